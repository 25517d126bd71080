package managed_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/managed"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/waittest"
)

func TestMain(m *testing.M) { s3test.Main(m) }

// A world is a Client with its own servers and Secrets.
type world struct {
	*managed.Client
	t       *testing.T
	bus     *bus.Bus
	s3      *s3test.Bucket
	secrets []local.Secret
	config  local.Object // the ClusterProviderConfig default of the claims
	uses    []managed.Use

	embedded string // URL of NATS
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := natstest.Start(t)
	w := &world{t: t, bus: s.Connect(t), s3: s3test.New(t), embedded: s.URL()}
	w.Client = managed.New(managed.Config{
		NATS: bus.Config{URL: s.URL(), User: natstest.User, Password: natstest.Password}, S3: w.s3.Config, Default: func(map[string]any) {},
		Configs:    func(string, string, string) (local.Object, bool) { return w.config, w.config != nil },
		Secrets:    func(string) []local.Secret { return w.secrets },
		Composites: func(string, string) []local.Composite { return nil },
		Using:      func(u managed.Use) { w.uses = append(w.uses, u) },
	})
	t.Cleanup(w.Close)
	return w
}

func object(kind string, spec map[string]any) local.Object {
	return local.Object{
		"apiVersion": "koldun.m.gorizond.io/v1alpha1", "kind": kind, "metadata": map[string]any{"namespace": "default", "name": "it"},
		"spec": map[string]any{"forProvider": spec},
	}
}

// bring creates or updates the external resource, and observes it.
func (w *world) bring(obj local.Object) local.Observation {
	w.t.Helper()
	o, err := w.Observe(w.t.Context(), obj)
	switch {
	case err != nil:
	case !o.Exists:
		err = w.Create(w.t.Context(), obj)
	case !o.UpToDate:
		err = w.Update(w.t.Context(), obj)
	}
	if err == nil {
		o, err = w.Observe(w.t.Context(), obj)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

// An annotation of the Secret disables the token, as it does in a cluster.
func TestAnnotationDisablesTheToken(t *testing.T) {
	const word = "a-secret-word-of-the-test"
	w := newWorld(t)
	obj := object("Token", map[string]any{"secretRef": map[string]any{"name": "given"}})
	for _, disabled := range []string{"", "true", ""} {
		w.secrets = []local.Secret{{Name: "given", Annotations: map[string]string{token.AnnotationDisabled: disabled}, Data: map[string][]byte{"token": []byte(word)}}}
		if o := w.bring(obj); !o.UpToDate {
			t.Fatalf("with annotation %q: %+v", disabled, o)
		}
		r, err := registry.Tokens(w.bus).Get(t.Context(), names.TokenKey(token.Digest(word)))
		if err != nil || r.Value.Disabled != (disabled != "") || r.Value.Namespace != "default" {
			t.Errorf("with annotation %q: got entry %+v, %v", disabled, r.Value, err)
		}
	}
}

// Files that were verified once are not read again until verify changes.
func TestArtifactIsVerifiedOnce(t *testing.T) {
	w := newWorld(t)
	store := w.s3.Store(t, "tiny")
	const file = "dllama_model_tiny_q40.m"
	m := manifest.Manifest{
		Kind: manifest.Converted, Name: "tiny", Weights: "q40",
		Files: []manifest.File{{Path: file, Size: int64(len("weights")), SHA256: token.Digest("weights")}},
	}
	if err := manifest.Save(t.Context(), store, m); err != nil {
		t.Fatal(err)
	}
	put := func(text string) {
		t.Helper()
		if err := store.Put(t.Context(), file, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	obj := object("ModelArtifact", map[string]any{"url": store.URL(), "verify": "once"})
	put("weights")
	o := w.bring(obj)
	if !o.Ready {
		t.Fatalf("the files are not complete: %+v", o)
	}
	put("WEIGHTS") // another read of the files would find the difference
	obj["status"] = map[string]any{"atProvider": o.Status}
	if o := w.bring(obj); !o.Ready {
		t.Errorf("the files were verified again: %+v", o)
	}
	obj["spec"] = map[string]any{"forProvider": map[string]any{"url": store.URL(), "verify": "twice"}}
	if o := w.bring(obj); o.Ready {
		t.Error("another value of verify did not verify the files again")
	}
}

func TestErrorsNameTheObject(t *testing.T) {
	w := newWorld(t)
	for kind, want := range map[string]string{
		"NodeLabelRule": "cannot manage NodeLabelRule default/it: one machine has no nodes to label",
		"Bocket":        "cannot manage Bocket default/it: koldun up does not know its kind",
	} {
		if _, err := w.Observe(t.Context(), object(kind, nil)); !fault.Is(err, fault.Unsupported) || err.Error() != want {
			t.Errorf("%s: %v of kind %s, want %q", kind, err, fault.KindOf(err), want)
		}
	}
	_, err := w.Observe(t.Context(), object("Bucket", map[string]any{"bucketNam": "models"}))
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), `unknown field "bucketNam"`) {
		t.Errorf("misspelt field: got %v", err)
	}
}

// A watch ends although the server that its object is on now cannot be reached.
func TestWatchEndsWithItsConnection(t *testing.T) {
	w := newWorld(t)
	obj := object("KeyValue", map[string]any{"bucket": "mine"})
	w.bring(obj)
	watched := make(chan error, 1)
	ready := make(chan struct{}, 8)
	go func() { watched <- w.Watch(t.Context(), obj, func() { ready <- struct{}{} }) }()
	waittest.Receive(t, "the watch begins", ready)
	w.config = local.Object{"spec": map[string]any{"nats": map[string]any{"url": "nats://127.0.0.1:1"}}}
	if _, err := w.Observe(t.Context(), obj); err == nil {
		t.Error("a server that does not exist was reached")
	}
	if err := waittest.Receive(t, "the watch ends", watched); !fault.Is(err, fault.Transient) {
		t.Errorf("the watch on the server before: %v", err)
	}
}

// Another server in the claims is used from the next call on, and ends a watch on the
// one before; without them, the last one stays known, for deletions.
func TestServersOfClaims(t *testing.T) {
	w := newWorld(t)
	obj := object("KeyValue", map[string]any{"bucket": "mine"})
	w.bring(obj)
	watched := make(chan error, 1)
	ready := make(chan struct{}, 8)
	go func() { watched <- w.Watch(t.Context(), obj, func() { ready <- struct{}{} }) }()
	waittest.Receive(t, "the watch begins", ready)

	other := natstest.Start(t)
	w.config = local.Object{"spec": map[string]any{"nats": map[string]any{"url": other.URL(), "secretRef": map[string]any{"name": "login", "namespace": "ns"}}}}
	if _, err := w.Observe(t.Context(), obj); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), `Secret "login" does not exist in namespace "ns"`) {
		t.Errorf("without the Secret: %v", err)
	}
	w.secrets = []local.Secret{{Name: "login", Data: map[string][]byte{"user": []byte(natstest.User), "password": []byte(natstest.Password)}}}
	if o, err := w.Observe(t.Context(), obj); err != nil || o.Exists {
		t.Errorf("on the server of the claims: %+v, %v", o, err)
	}
	if err := waittest.Receive(t, "the watch ends", watched); !fault.Is(err, fault.Transient) {
		t.Errorf("the watch on the server before: %v", err)
	}
	w.bring(obj)
	config, secrets := w.config, w.secrets
	w.config, w.secrets = nil, nil
	if o, err := w.Observe(t.Context(), obj); err != nil || !o.Exists {
		t.Errorf("after the end of the claims: %+v, %v", o, err)
	}
	if err := w.Delete(t.Context(), obj); err != nil {
		t.Errorf("after the end of the claims: %v", err)
	}
	if o, err := w.Observe(t.Context(), obj); err != nil || !o.Exists {
		t.Errorf("on the embedded server, once nothing uses the other: %+v, %v", o, err)
	}
	w.config, w.secrets = config, secrets
	if o, err := w.Observe(t.Context(), obj); err != nil || o.Exists {
		t.Errorf("on the server of the claims, after the deletion: %+v, %v", o, err)
	}
	want := []managed.Use{{System: managed.NATS, Address: w.embedded, Embedded: true}, {System: managed.NATS, Address: other.URL()}}
	if !slices.Equal(w.uses, want) {
		t.Errorf("used %v, want %v", w.uses, want)
	}
	other.Stop()
	waittest.Until(t, "the server to be missed", func() bool {
		_, err := w.Observe(t.Context(), obj)
		return err != nil && strings.Contains(err.Error(), other.URL()) && strings.Contains(err.Error(), "run koldun up --embedded")
	})
}

// An error that is not of a server of the claims does not blame it.
func TestAbsentSecretOnAServerOfClaims(t *testing.T) {
	w := newWorld(t)
	other := natstest.Start(t)
	other.Connect(t)
	w.config = local.Object{"spec": map[string]any{"nats": map[string]any{"url": other.URL(), "secretRef": map[string]any{"name": "login", "namespace": "ns"}}}}
	w.secrets = []local.Secret{{Name: "login", Data: map[string][]byte{"user": []byte(natstest.User), "password": []byte(natstest.Password)}}}
	_, err := w.Observe(t.Context(), object("Token", map[string]any{"secretRef": map[string]any{"name": "absent"}}))
	if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), `Secret "absent"`) || strings.Contains(err.Error(), "--embedded") {
		t.Errorf("got %v", err)
	}
	if len(w.uses) != 1 || w.uses[0].Address != other.URL() {
		t.Errorf("used %v, want the server of the claims", w.uses)
	}
}
