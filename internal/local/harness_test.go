package local

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/waittest"
)

const ownImage = "example.org/koldun:test"

type composerFunc func(xr Object, observed map[string]Object, required map[string][]Object) (Composed, error)

func (f composerFunc) Compose(_ context.Context, xr Object, observed map[string]Object, required map[string][]Object) (Composed, error) {
	return f(xr, observed, required)
}

// compose always desires the same objects, each by the name "kind-name". A
// workload is ready when its pods are, a Job when it is complete.
func compose(objs ...Object) composerFunc {
	return func(_ Object, observed map[string]Object, _ map[string][]Object) (Composed, error) {
		c := Composed{Desired: map[string]Object{}, Ready: map[string]bool{}}
		for _, o := range objs {
			name := strings.ToLower(o.Key().Kind + "-" + o.Key().Name)
			c.Desired[name] = o
			switch classOf(o.Key()) {
			case workloadClass:
				c.Ready[name] = condition(observed[name], "Available").Status == True
			case jobClass:
				c.Ready[name] = condition(observed[name], "Complete").Status == True
			case managedClass, compositeClass:
			default:
				c.Ready[name] = true
			}
		}
		return c, nil
	}
}

// fakeManaged keeps external resources in memory.
type fakeManaged struct {
	mu      sync.Mutex
	things  map[string]string // by name: spec.value
	calls   []string
	unready map[string]bool
	fails   error  // of Observe
	keeps   error  // of Delete
	seen    Object // last argument of Observe
}

func (f *fakeManaged) Observe(_ context.Context, o Object) (Observation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = o
	if f.fails != nil {
		return Observation{}, f.fails
	}
	value, ok := f.things[o.Key().Name]
	return Observation{
		Exists:     ok,
		UpToDate:   value == text(o, "spec", "value"),
		Ready:      ok && !f.unready[o.Key().Name],
		Status:     map[string]any{"value": value},
		Connection: map[string][]byte{"NATS_URL": []byte("nats://x"), "WORD": []byte("secret")},
	}, nil
}

func (f *fakeManaged) Create(_ context.Context, o Object) error { return f.put("create", o) }
func (f *fakeManaged) Update(_ context.Context, o Object) error { return f.put("update", o) }

func (f *fakeManaged) put(verb string, o Object) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.things == nil {
		f.things = map[string]string{}
	}
	f.things[o.Key().Name] = text(o, "spec", "value")
	f.calls = append(f.calls, verb+" "+o.Key().Name)
	return nil
}

func (f *fakeManaged) Delete(_ context.Context, o Object) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keeps != nil {
		return f.keeps
	}
	delete(f.things, o.Key().Name)
	f.calls = append(f.calls, "delete "+o.Key().Name)
	return nil
}

func (f *fakeManaged) did() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

func (f *fakeManaged) set(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// A world is a running Local with its events.
type harness struct {
	*Local
	t      *testing.T
	dir    string
	cancel context.CancelFunc
	ended  chan error

	mu     sync.Mutex
	events []Event
	news   chan struct{}
}

func (w *harness) Observe(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// run runs one composite, named a, with the composer.
func run(t *testing.T, c Composer, change ...func(*Config)) *harness {
	t.Helper()
	w := &harness{t: t, dir: t.TempDir(), ended: make(chan error, 1), news: make(chan struct{}, 1)}
	data, err := OpenData(filepath.Join(w.dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		Claims: []Object{xr("a")}, Data: data, Composer: c, Managed: &fakeManaged{}, Observer: w,
		Binary: exe, OwnImage: ownImage, Env: []string{"KOLDUN_TEST_CHILD=1", "GORACE=atexit_sleep_ms=0"}, Poll: 20 * time.Millisecond,
		Grace: 5 * time.Second,
	}
	for _, f := range change {
		f(&cfg)
	}
	if w.Local, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go func() { w.ended <- w.Run(ctx) }()
	t.Cleanup(func() {
		_ = w.stop() // tests that check the error call stop themselves
		_ = data.Close()
	})
	return w
}

// stop ends the run and returns its error.
func (w *harness) stop() error {
	w.t.Helper()
	w.cancel()
	err := waittest.Receive(w.t, "Run ends", w.ended)
	w.ended <- err
	return err
}

// await waits for an event.
func (w *harness) await(what string, is func(Event) bool) Event {
	w.t.Helper()
	return w.awaitNth(1, what, is)
}

func (w *harness) awaitNth(n int, what string, is func(Event) bool) Event {
	w.t.Helper()
	late := time.After(waittest.Patience)
	for {
		if found := w.told(is); len(found) >= n {
			return found[n-1]
		}
		select {
		case <-w.news:
		case <-late:
			w.t.Fatalf("no event: %s; there were:\n%s", what, w.history())
		}
	}
}

func (w *harness) told(is func(Event) bool) []Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []Event
	for _, e := range w.events {
		if is(e) {
			found = append(found, e)
		}
	}
	return found
}

func (w *harness) history() string {
	var b strings.Builder
	for _, e := range w.told(func(Event) bool { return true }) {
		fmt.Fprintf(&b, "%s %s %s %s %s\n", e.Type, e.Object, e.Pod, e.Message, e.Condition.Reason)
	}
	return b.String()
}

// look runs f in the goroutine of Run.
func (w *harness) look(f func()) {
	w.t.Helper()
	waittest.Returns(w.t, "Run does what it is asked", func() {
		done := make(chan struct{})
		w.post(func() {
			defer close(done)
			f()
		})
		select {
		case <-done:
		case <-w.closed:
		}
	})
}

// object returns the current state of an object, or nil.
func (w *harness) object(k Key) (o Object) {
	w.look(func() {
		if e := w.table.entries[k]; e != nil {
			o = e.obj
		}
	})
	return o
}

func (w *harness) settle() Root {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Patience)
	defer cancel()
	roots, err := w.Wait(ctx)
	if err != nil {
		w.t.Fatalf("Wait: %v; there were:\n%s", err, w.history())
	}
	return roots[0]
}

func of(kind EventType, o Key) func(Event) bool {
	return func(e Event) bool { return e.Type == kind && e.Object == o }
}

// Objects.

func xr(name string) Object {
	return must(map[string]any{
		"apiVersion": CompositeGroup + "/v1", "kind": "Dllama",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec":     map[string]any{"x": 1},
	})
}

func container(name string, args ...string) map[string]any {
	return map[string]any{"name": name, "image": ownImage, "args": args}
}

func with(c map[string]any, more map[string]any) map[string]any {
	c = maps.Clone(c)
	maps.Copy(c, more)
	return c
}

func deployment(name string, replicas int, containers ...map[string]any) Object {
	return must(map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec": map[string]any{"replicas": replicas, "template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app": name}},
			"spec": map[string]any{
				"containers": containers,
				"volumes": []any{map[string]any{
					"name": "data", "persistentVolumeClaim": map[string]any{"claimName": name},
				}},
			},
		}},
	})
}

func jobOf(name string, more map[string]any, containers ...map[string]any) Object {
	spec := map[string]any{"template": map[string]any{"spec": map[string]any{
		"containers": containers,
		"volumes":    []any{map[string]any{"name": "data", "persistentVolumeClaim": map[string]any{"claimName": name}}},
	}}}
	maps.Copy(spec, more)
	return must(map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec":     spec,
	})
}

func serviceOf(name string, port int) Object {
	return must(map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec": map[string]any{
			"selector": map[string]any{"app": name},
			"ports":    []any{map[string]any{"port": port, "targetPort": "http"}},
		},
	})
}

// server returns a container that serves HTTP, and becomes ready on demand.
func server(args ...string) map[string]any {
	return with(container("main", append([]string{"serve", "$(KOLDUN_PORT_HTTP)"}, args...)...), map[string]any{
		"ports":          []any{map[string]any{"name": "http", "containerPort": 8080}},
		"readinessProbe": map[string]any{"httpGet": map[string]any{"path": "/readyz", "port": "http"}},
		"env":            []any{map[string]any{"name": "KOLDUN_PORT_HTTP", "value": "8080"}},
	})
}

func managedOf(name, value string, more map[string]any) Object {
	spec := map[string]any{"value": value}
	maps.Copy(spec, more)
	return must(map[string]any{
		"apiVersion": ManagedGroup + "/v1alpha1", "kind": "Stream",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec":     spec,
	})
}

func must(v map[string]any) Object {
	o, err := NewObject(v)
	if err != nil {
		panic(err)
	}
	return o
}
