package parity

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/cmd/koldun/managed"
	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/test/waittest"
)

// up is a managed resource in the claims of koldun up.
type up struct {
	t            *testing.T
	kind         *crd.Kind
	namespace    string
	schemas      *validation.Schemas
	local        *local.Local
	client       *recorder
	secret       local.Object   // of the scenario, if it has one
	more         map[string]any // of spec
	given        map[string]any // all fields of forProvider that claims have set so far
	observations int
}

func newUp(t *testing.T, s *servers, c scenario) manager {
	t.Helper()
	k, err := crd.Load(crd.Managed, c.plural)
	if err != nil {
		t.Fatal(err)
	}
	f := &up{t: t, kind: k, namespace: c.namespace(), more: c.manifest, given: map[string]any{}}
	if f.schemas, err = validation.Load(); err != nil {
		t.Fatal(err)
	}
	if c.secret != "" {
		f.secret = local.Object{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": f.namespace, "name": secretName},
			"stringData": map[string]any{"token": c.secret},
		}
	}
	client := managed.New(managed.Config{
		NATS: bus.Config{URL: s.nats.URL(), User: natstest.User, Password: natstest.Password}, S3: s.s3.Config(), Default: f.schemas.Default,
		Configs:    func(kind, namespace, name string) (local.Object, bool) { return f.local.Config(kind, namespace, name) },
		Secrets:    func(namespace string) []local.Secret { return f.local.Secrets(namespace) },
		Composites: func(kind, namespace string) []local.Composite { return f.local.Composites(kind, namespace) },
	})
	t.Cleanup(client.Close)
	f.client = &recorder{Client: client}
	data, err := local.OpenData(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = data.Close() })
	f.local, err = local.New(local.Config{
		Claims: []local.Object{unrelated()}, Data: data, Composer: noComposer{}, Managed: f.client, Binary: "/no/program", OwnImage: "none",
		Poll: 50 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.local.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := waittest.Receive(t, "koldun up ends", ended); err != nil {
			t.Error(err)
		}
	})
	return f
}

// unrelated returns an object that stays: koldun up requires at least one.
func unrelated() local.Object {
	return local.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": "unrelated"}, "data": map[string]any{}}
}

// noComposer is the Composer of claims without composites.
type noComposer struct{}

func (noComposer) Compose(context.Context, local.Object, map[string]local.Object, map[string][]local.Object) (local.Composed, error) {
	return local.Composed{}, errors.New("no scenario has a composite")
}

// send applies claims with a spec, and returns the object as koldun up sees it.
func (f *up) send(spec map[string]any) map[string]any {
	f.t.Helper()
	whole, wanted := map[string]any{}, maps.Clone(spec)
	for name := range f.given {
		if none, ok := resets()[f.kind.Plural][name]; ok && wanted[name] == nil {
			wanted[name] = none
		}
	}
	maps.Copy(f.given, spec)
	for name, v := range f.more {
		if f.kind.Spec.Child(name) != nil {
			wanted[name] = v
		} else {
			whole[name] = v
		}
	}
	whole["forProvider"] = wanted
	metadata := map[string]any{"name": resourceName, "namespace": f.namespace, "annotations": map[string]any{"observations": strconv.Itoa(f.observations)}}
	obj := map[string]any{"apiVersion": f.kind.APIVersion(), "kind": f.kind.Kind, "metadata": metadata, "spec": whole}
	f.schemas.Default(obj)
	claims := []local.Object{unrelated(), obj}
	if f.secret != nil {
		claims = append(claims, f.secret)
	}
	f.client.forget()
	if err := f.local.Apply(claims); err != nil {
		f.t.Fatal(err)
	}
	return obj
}

func (f *up) apply(spec map[string]any) {
	f.t.Helper()
	obj := f.send(spec)
	waittest.Until(f.t, f.kind.Kind+" to be ready", func() bool {
		of, o, err := f.client.last()
		return err == nil && o.Exists && o.UpToDate && o.Ready && text(of) == text(obj)
	})
}

// reobserve changes an annotation, which makes koldun up observe the resource.
func (f *up) reobserve(spec map[string]any) {
	f.t.Helper()
	f.observations++
	f.apply(spec)
}

func (f *up) refused(spec map[string]any, why string) {
	f.t.Helper()
	f.send(spec)
	waittest.Until(f.t, f.kind.Kind+" to be refused for "+why, func() bool {
		_, _, err := f.client.last()
		return err != nil && strings.Contains(err.Error(), why)
	})
}

func (f *up) delete() {
	f.t.Helper()
	if err := f.local.Apply([]local.Object{unrelated()}); err != nil {
		f.t.Fatal(err)
	}
	waittest.Until(f.t, f.kind.Kind+" to be deleted", f.client.gone)
}

// A recorder remembers the last result of reconciling the resource.
type recorder struct {
	*managed.Client

	mu          sync.Mutex
	object      local.Object
	observation local.Observation
	err         error
	deleted     bool
}

func (r *recorder) forget() { r.note(nil, local.Observation{}, nil) }

func (r *recorder) note(obj local.Object, o local.Observation, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.object, r.observation, r.err = obj, o, err
}

func (r *recorder) last() (local.Object, local.Observation, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.object, r.observation, r.err
}

func (r *recorder) gone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.deleted
}

func (r *recorder) Observe(ctx context.Context, obj local.Object) (local.Observation, error) {
	o, err := r.Client.Observe(ctx, obj)
	r.note(obj, o, err)
	return o, err
}

func (r *recorder) Create(ctx context.Context, obj local.Object) error {
	err := r.Client.Create(ctx, obj)
	if err != nil {
		r.note(obj, local.Observation{}, err)
	}
	return err
}

func (r *recorder) Update(ctx context.Context, obj local.Object) error {
	err := r.Client.Update(ctx, obj)
	if err != nil {
		r.note(obj, local.Observation{}, err)
	}
	return err
}

func (r *recorder) Delete(ctx context.Context, obj local.Object) error {
	err := r.Client.Delete(ctx, obj)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deleted = err == nil
	return err
}

// text returns the annotations and the spec of a claim as JSON.
func text(obj local.Object) string {
	metadata, _ := obj["metadata"].(map[string]any)
	raw, err := json.Marshal([]any{metadata["annotations"], obj["spec"]})
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
