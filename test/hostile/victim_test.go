package hostile_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/managed"
	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/internal/network/httpserver/proxytest"
	"github.com/gorizond/koldun/internal/serving/dispatch"
	"github.com/gorizond/koldun/internal/serving/gateway"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/internal/serving/sidecar"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/history"
	"github.com/gorizond/koldun/test/waittest"
)

// owned is what the victim has on servers whose logins both namespaces share.
const owned = `
{apiVersion: koldun.m.gorizond.io/v1alpha1, kind: Stream, metadata: {name: work}, spec: {providerConfigRef: {kind: ClusterProviderConfig, name: common}, forProvider: {name: WORK, subjects: [work.>]}}}
---
{apiVersion: koldun.m.gorizond.io/v1alpha1, kind: KeyValue, metadata: {name: settings}, spec: {providerConfigRef: {kind: ClusterProviderConfig, name: common}, forProvider: {bucket: settings}}}
---
{apiVersion: koldun.m.gorizond.io/v1alpha1, kind: Bucket, metadata: {name: models}, spec: {providerConfigRef: {kind: ClusterProviderConfig, name: common}, forProvider: {bucketName: victim-models}}}
---
{apiVersion: koldun.m.gorizond.io/v1alpha1, kind: ModelRecord, metadata: {name: tiny}, spec: {providerConfigRef: {kind: ClusterProviderConfig, name: tenants}, forProvider: {namespace: default, name: tiny, sizeBytes: 1, weights: q40}}}
---
{apiVersion: koldun.gorizond.io/v1, kind: Model, metadata: {name: tiny}, spec: {sourceUrl: https://huggingface.co/org/model}}
---
apiVersion: koldun.m.gorizond.io/v1alpha1
kind: NATSUser
metadata: {name: pods}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: tenants}
  writeConnectionSecretToRef: {name: pods}
  forProvider:
    users:
    - {name: gateway, role: gateway}
    - {name: dispatcher, role: dispatcher}
    - {name: runner, role: runner, session: default_tiny, runner: r0, model: model/default/tiny}
`

// A target serves a model in the victim's namespace, under load.
type target struct {
	*world

	url    string // of its gateway
	caller history.Tenant
	store  *s3.Client
	engine locked // what the engine has logged
}

// newTarget makes what the victim has, and serves it with the credentials that the provider
// gives to pods.
func newTarget(t *testing.T, w *world) *target {
	t.Helper()
	store, err := s3store.NewClient(t.Context(), w.s3.Config())
	if err != nil {
		t.Fatal(err)
	}
	v := &target{world: w, caller: history.NewTenant("victim"), store: store}
	queues := []*unstructured.Unstructured{unstructuredOf(t, queueOf(home, "queue", tenants)), unstructuredOf(t, queueOf(home, "common-queue", common))}
	for _, q := range queues {
		w.make(home, q.DeepCopy())
	}
	if err := w.ApplyIn(t.Context(), home, owned, v.token(v.caller)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if _, err := v.store.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String(commonBucket), Key: aws.String(kept)}); err != nil {
			t.Error(err)
		}
		if err := w.Delete(ctx, home, owned, v.token(v.caller)); err != nil {
			t.Error(err)
		}
		for _, q := range queues {
			if err := w.Client().Delete(ctx, q); err != nil {
				t.Error(err)
			}
		}
	})
	for _, o := range append(decode(t, owned), decode(t, v.token(v.caller))...) {
		if strings.HasSuffix(o.GetAPIVersion(), "m.gorizond.io/v1alpha1") {
			cluster.Eventually(t, o.GetKind()+" of the victim to be ready", w.condition(home, o, "Ready", "True", ""))
		}
	}
	v.fill()
	v.serve()
	return v
}

// queueOf returns the streams and buckets of a namespace.
func queueOf(namespace, name, config string) *v1alpha1.Queue {
	return managed.Queue(&v1.ProviderConfigReference{Kind: v1alpha1.KindClusterProviderConfig, Name: config}, namespace, name, "",
		v1alpha1.QueueParameters{Streams: managed.Streams(0, 0), KeyValues: managed.KeyValues(0)})
}

// unstructuredOf converts an object.
func unstructuredOf(t *testing.T, o *v1alpha1.Queue) *unstructured.Unstructured {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatal(err)
	}
	delete(fields, "status")
	unstructured.RemoveNestedField(fields, "metadata", "creationTimestamp")
	return &unstructured.Unstructured{Object: fields}
}

// token returns the resource of a caller's API token.
func (v *target) token(of history.Tenant) string {
	sum := sha256.Sum256([]byte(of.Token))
	return fmt.Sprintf("{apiVersion: koldun.m.gorizond.io/v1alpha1, kind: Token, metadata: {name: caller}, spec: {providerConfigRef: {kind: ClusterProviderConfig, name: tenants}, forProvider: {sha256: %s}}}",
		hex.EncodeToString(sum[:]))
}

// fill puts something into all that an attack might empty.
func (v *target) fill() {
	v.t.Helper()
	ctx := waittest.Context(v.t)
	if _, err := v.store.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(commonBucket), Key: aws.String(kept), Body: strings.NewReader("x")}); err != nil {
		v.t.Fatal(err)
	}
	b := v.common.Connect(v.t)
	if _, err := b.Put(ctx, "settings", "kept", 1); err != nil {
		v.t.Fatal(err)
	}
	for range 3 {
		if _, err := b.JetStream().Publish(ctx, "work.a", []byte("kept")); err != nil {
			v.t.Fatal(err)
		}
	}
}

// state returns all that attacks must leave as it is.
func (v *target) state() string {
	v.t.Helper()
	ctx := waittest.Context(v.t)
	var all []any
	b := v.common.Connect(v.t)
	defer b.Close()
	streams := b.JetStream().ListStreams(ctx)
	found := map[string]any{}
	for info := range streams.Info() {
		found[info.Config.Name] = []any{info.Config, info.State.Msgs, info.State.LastSeq}
	}
	tags, err := v.store.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: aws.String(commonBucket)})
	if err != nil {
		v.t.Fatal(err)
	}
	objects, err := v.store.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String(commonBucket)})
	if err != nil {
		v.t.Fatal(err)
	}
	for _, o := range objects.Contents {
		all = append(all, aws.ToString(o.Key), aws.ToString(o.ETag))
	}
	raw, err := json.Marshal(append(all, found, tags.TagSet))
	if err != nil {
		v.t.Fatal(err)
	}
	return string(raw)
}

// login returns the connection of one of the victim's pods.
func (v *target) login(name string) bus.Config {
	v.t.Helper()
	var secret corev1.Secret
	if err := v.Client().Get(v.t.Context(), client.ObjectKey{Namespace: home, Name: "pods"}, &secret); err != nil {
		v.t.Fatal(err)
	}
	creds := string(secret.Data[name+".creds"])
	life, ok := natsauth.LifeOf(creds)
	if !ok {
		v.t.Fatalf("Secret %q has no credentials of %s", secret.Name, name)
	}
	return bus.Config{URL: v.nats.URL(), Creds: creds, WithoutJetStream: name == "runner", InboxPrefix: natsauth.InboxPrefix(life.User), Name: name, Logger: slog.New(slog.DiscardHandler)}
}

// connect connects a process until the test ends.
func (v *target) connect(cfg bus.Config) *bus.Bus {
	v.t.Helper()
	b, err := bus.Connect(waittest.Context(v.t), cfg)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(b.Close)
	return b
}

// serve runs gateway, dispatcher, sidecar and engine.
func (v *target) serve() {
	v.t.Helper()
	v.engine = locked{new(sync.Mutex), new(bytes.Buffer)}
	e := history.NewEngine(porttest.Address(v.t), v.engine)
	if err := e.Run(); err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(e.Stop)
	engine, err := engineapi.New(e.URL)
	if err != nil {
		v.t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	// The runner listens on no port and connects to NATS through a proxy. TestRunnerBehindAFirewall
	// in test/serving checks that it needs no other connection.
	behind := v.login("runner")
	behind.URL = "nats://" + proxytest.Start(v.t, strings.TrimPrefix(v.nats.URL(), "nats://")).Address()
	dispatcher, runner := v.connect(v.login("dispatcher")), v.connect(behind)
	v.run(func(ctx context.Context) error {
		return dispatch.Run(ctx, dispatch.Config{Bus: dispatcher, Identity: "d", Logger: log})
	})
	v.run(func(ctx context.Context) error {
		return sidecar.Run(ctx, sidecar.Config{
			Bus: runner, Engine: engine, Session: names.Session(home, "tiny", ""), Runner: "r0", Model: history.ModelID, Grace: time.Second, Logger: log,
		})
	})
	listen := porttest.Address(v.t)
	v.url = "http://" + listen
	cfg := v.login("gateway")
	v.run(func(ctx context.Context) error {
		return gateway.Run(ctx, gateway.Config{
			Bus: cfg, Listen: listen, Namespace: home, Logger: log, MaxBodyBytes: 64 << 10,
			Limits: registry.Limits{RequestsPerMinute: 6000}, Hosts: []string{"localhost"},
		})
	})
	v.answers()
}

// answers waits until the gateway has the model and an answer.
func (v *target) answers() {
	v.t.Helper()
	cluster.Eventually(v.t, "the victim to be served", func(ctx context.Context) error {
		q := history.ChatRequest{Prompt: history.Prompt{ID: "first", N: 1}, From: v.caller}
		if e := q.Send(ctx, http.DefaultClient, v.url); e.Verdict != history.OK {
			return fmt.Errorf("status %d %s %s", e.Status, e.Code, e.Received)
		}
		return nil
	})
}

// load sends requests from several clients until stop is called, which checks all that was
// recorded.
func (v *target) load() (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(v.t.Context()))
	var wg sync.WaitGroup
	var mu sync.Mutex
	var h history.History
	for c := range clients {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				e := history.ChatRequest{
					Prompt: history.Prompt{ID: fmt.Sprintf("%s-%d-%d", v.caller.Mark, c, i), N: 20, Every: 10 * time.Millisecond},
					From:   v.caller, Stream: i%4 != 3,
				}.Send(context.Background(), http.DefaultClient, v.url)
				mu.Lock()
				h.Entries = append(h.Entries, e)
				mu.Unlock()
			}
		})
	}
	return func() {
		cancel()
		waittest.Returns(v.t, "the clients have ended", wg.Wait)
		v.collect(&h)
		h.Verify(v.t, history.EndsOnce, history.OneGeneration, history.NothingLost)
		for _, e := range h.Entries {
			if e.Verdict != history.OK {
				v.t.Errorf("a request of the victim ended with %s, status %d, %s", e.Verdict, e.Status, e.Code)
			}
		}
		if len(h.Entries) < 2*clients {
			v.t.Errorf("the victim has sent %d requests only", len(h.Entries))
		}
	}
}

// clients is how many requests of the victim run at a time.
const clients = 3

// collect adds what the queue and the engine have recorded.
func (v *target) collect(h *history.History) {
	v.t.Helper()
	user, err := natstest.Keyring.User(natsauth.Grant{Namespace: home, Owner: "test", Role: natsauth.Operator}, time.Hour)
	if err != nil {
		v.t.Fatal(err)
	}
	q := queue.New(v.connect(bus.Config{URL: v.nats.URL(), Creds: user.Credentials, InboxPrefix: user.InboxPrefix, Name: "operator"}))
	cluster.Eventually(v.t, "the queue to be empty", func(ctx context.Context) error {
		h.Queued = 0
		err := q.OpenRequests(ctx, "*", func(queue.OpenRequest) bool { h.Queued++; return true })
		if err == nil && h.Queued > 0 {
			err = fmt.Errorf("%d requests have not ended", h.Queued)
		}
		return err
	})
	h.Outcomes = map[string][]queue.Outcome{}
	if err := q.Outcomes(waittest.Context(v.t), "*", time.Time{}, func(o queue.Outcome) bool {
		h.Outcomes[o.Request] = append(h.Outcomes[o.Request], o)
		return true
	}); err != nil {
		v.t.Fatal(err)
	}
	v.engine.mu.Lock()
	defer v.engine.mu.Unlock()
	for log := json.NewDecoder(bytes.NewReader(v.engine.b.Bytes())); log.More(); {
		var g history.Generation
		if err := log.Decode(&g); err != nil {
			v.t.Fatal(err)
		}
		h.Generations = append(h.Generations, g)
	}
}

// locked is a buffer that the engine writes to while the test reads it.
type locked struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// run runs a server until the test ends.
func (v *target) run(server func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(v.t.Context()))
	done := make(chan error, 1)
	go func() { done <- server(ctx) }()
	v.t.Cleanup(func() {
		cancel()
		if err := waittest.Receive(v.t, "a server to end", done); err != nil {
			v.t.Error(err)
		}
	})
}

// condition returns a check for a condition of an object whose message contains a text.
func (w *world) condition(namespace string, of *unstructured.Unstructured, kind, status, says string) func(context.Context) error {
	return func(ctx context.Context) error {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(of.GroupVersionKind())
		if err := w.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: of.GetName()}, o); err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			c, _ := c.(map[string]any)
			message, _ := c["message"].(string)
			if (kind == "" || c["type"] == kind) && (status == "" || c["status"] == status) && strings.Contains(message, says) {
				return nil
			}
		}
		return fmt.Errorf("the conditions of %s %q are %v", o.GetKind(), o.GetName(), conditions)
	}
}

// gone returns a check that an object does not exist.
func (w *world) gone(of *unstructured.Unstructured) func(context.Context) error {
	return func(ctx context.Context) error {
		o := of.DeepCopy()
		err := w.Client().Get(ctx, client.ObjectKeyFromObject(of), o)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it exists, with %v (%w)", o.Object["status"], err)
	}
}

func decode(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	out, err := cluster.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
