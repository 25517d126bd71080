package modelrecord_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/modelrecord"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// TestBucketsOfTheFirstKoldun takes over the stream and the buckets of the first
// Koldun, which has records of other fields under the same keys.
func TestBucketsOfTheFirstKoldun(t *testing.T) {
	ctx := t.Context()
	s := natstest.Start(t)
	b, err := bus.Connect(ctx, bus.Config{URL: s.URL(), User: natstest.User, Password: natstest.Password, Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	const secret = "a-token-of-the-first-koldun"
	hash := token.Digest(secret)
	for bucket, entry := range map[string][2]string{
		"koldun_models": {"model/ns/tiny", `{"namespace":"ns","name":"tiny","displayName":"tiny","conversionSizeBytes":9,"conversionSizeHuman":"9 B","outputPVCName":"p","replicaPower":1}`},
		"koldun_tokens": {"token/" + hash, `{"hash":"` + hash + `","disabled":false,"namespace":"ns"}`},
		"koldun_ttl":    {"nats_ttl_" + strings.Repeat("0", 64), `{"hash":"0"}`},
	} {
		kv, err := b.JetStream().CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucket, History: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kv.Put(ctx, entry[0], []byte(entry[1])); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.JetStream().CreateStream(ctx, jetstream.StreamConfig{Name: "KOLDUN_LLM_REQUESTS", Subjects: []string{"in.>", "sessions.a.dllama.>"}, Retention: jetstream.WorkQueuePolicy}); err != nil {
		t.Fatal(err)
	}
	if err := b.Ensure(ctx); err != nil {
		t.Fatal(err)
	}

	store, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := manifest.Manifest{Kind: manifest.Converted, Name: "tiny", Weights: "q40", Files: []manifest.File{{Path: "a", Size: 7, SHA256: strings.Repeat("0", 64)}}}
	if err := manifest.Save(ctx, store, m); err != nil {
		t.Fatal(err)
	}
	models := registry.Models(b)
	record := modelrecord.New(func(context.Context, string) (objectstore.Store, error) { return store, nil }, models)
	spec := modelrecord.Spec{Namespace: "ns", Name: "tiny", ArtifactURL: "s3://models/x"}
	if o, err := record.Observe(ctx, spec); err != nil || !o.Exists || o.UpToDate {
		t.Fatalf("Observe of the old record: %+v, %v", o, err)
	}
	if err := record.Update(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if r, err := models.Get(ctx, names.ModelKey("ns", "tiny")); err != nil || r.Value.Size != 7 {
		t.Errorf("the record is %+v, %v", r.Value, err)
	}

	tokens := token.New(b)
	its := token.Spec{Namespace: "ns", Owner: "Token ns/a", SecretRef: &external.SecretRef{Name: "s"}, Secret: &token.Secret{Name: "s", Data: map[string][]byte{"hash": []byte(hash)}}}
	if o, err := tokens.Observe(ctx, its); err != nil || o.Exists {
		t.Fatalf("Observe of the old token: %+v, %v", o, err)
	}
	if err := tokens.Create(ctx, its); err != nil {
		t.Fatal(err)
	}
	if r, err := registry.Tokens(b).Get(ctx, names.TokenKey(hash)); err != nil || r.Value.SHA256 != hash || r.Value.Owner == "" {
		t.Errorf("the token is %+v, %v", r.Value, err)
	}
}
