package demand_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/external/demand"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/waittest"
)

type world struct {
	server *natstest.Server
	bus    *bus.Bus
	table  *registry.Table[registry.Demand]
	client *demand.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := natstest.Start(t)
	b, err := bus.Connect(t.Context(), bus.Config{URL: s.URL(), User: natstest.User, Password: natstest.Password, Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if err := b.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &world{server: s, bus: b, table: registry.Demands(b), client: demand.New(b)}
}

func record(namespace, model, isolation string) registry.Demand {
	return registry.Demand{Version: 1, Session: names.Session(namespace, model, isolation), Namespace: namespace, Model: model}
}

func (w *world) announce(t *testing.T, d registry.Demand, ttl time.Duration) {
	t.Helper()
	if _, err := w.table.PutTTL(t.Context(), d.Session, d, ttl); err != nil {
		t.Fatal(err)
	}
}

func (w *world) observe(t *testing.T, s demand.Spec) []demand.Session {
	t.Helper()
	o, err := w.client.Observe(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if !o.Exists || !o.UpToDate || !o.Ready {
		t.Errorf("Observe: %+v, want it ready", o)
	}
	return o.Status.Sessions
}

// watch returns a channel with the list after each change.
func (w *world) watch(t *testing.T, s demand.Spec) <-chan []demand.Session {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	lists := make(chan []demand.Session, 100)
	done := make(chan error)
	go func() {
		done <- w.client.Watch(ctx, s, func() {
			if o, err := w.client.Observe(ctx, s); err == nil {
				lists <- o.Status.Sessions
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := waittest.Receive(t, "the watch ends", done); err != nil {
			t.Errorf("Watch: %v", err)
		}
	})
	return lists
}

func await(t *testing.T, lists <-chan []demand.Session, want ...demand.Session) {
	t.Helper()
	timeout := time.After(waittest.Patience)
	var last []demand.Session
	for {
		select {
		case last = <-lists:
			if cmp.Equal(append([]demand.Session{}, last...), append([]demand.Session{}, want...)) {
				return
			}
		case <-timeout:
			t.Fatalf("the last list is %v, want %v", last, want)
		}
	}
}

func TestObserveListsItsNamespaceOnly(t *testing.T) {
	w := newWorld(t)
	spec := demand.Spec{Namespace: "ns", MaxIsolated: 1}
	if got := w.observe(t, spec); len(got) != 0 {
		t.Errorf("Observe of nothing: %v", got)
	}
	w.announce(t, record("ns", "a", ""), time.Hour)
	w.announce(t, record("ns", "a", "alice"), time.Hour)
	w.announce(t, record("other", "b", ""), time.Hour)
	// The right to write keys must not allow creating pools of other models.
	foreign := record("ns", "c", "")
	foreign.Model = "d"
	w.announce(t, foreign, time.Hour)
	want := []demand.Session{
		{Key: "ns_a", Model: "a"},
		{Key: names.Session("ns", "a", "alice"), Model: "a", Isolated: true},
	}
	if d := cmp.Diff(want, w.observe(t, spec)); d != "" {
		t.Error(d)
	}
}

func TestWatchTellsOfBirthAndExpiryOnly(t *testing.T) {
	w := newWorld(t)
	spec := demand.Spec{Namespace: "ns"}
	lists := w.watch(t, spec)
	await(t, lists)
	a, b := demand.Session{Key: "ns_a", Model: "a"}, demand.Session{Key: "ns_b", Model: "b"}
	w.announce(t, record("ns", "a", ""), time.Hour)
	await(t, lists, a)
	w.announce(t, record("ns", "a", ""), time.Hour) // a heartbeat
	w.announce(t, record("other", "a", ""), time.Hour)
	w.announce(t, record("ns", "b", ""), time.Hour)
	// The next list contains b: a heartbeat causes no list.
	if got := waittest.Receive(t, "a list", lists); !cmp.Equal(got, []demand.Session{a, b}) {
		t.Errorf("the next list is %v, want a and b", got)
	}
	w.announce(t, record("ns", "b", ""), time.Second) // the last one of b
	await(t, lists, a)
}

func TestWatchLooksAgainAfterAnOutage(t *testing.T) {
	w := newWorld(t)
	spec := demand.Spec{Namespace: "ns"}
	lists := w.watch(t, spec)
	await(t, lists)
	a, b := demand.Session{Key: "ns_a", Model: "a"}, demand.Session{Key: "ns_b", Model: "b"}
	w.announce(t, record("ns", "a", ""), time.Hour)
	await(t, lists, a)
	w.announce(t, record("ns", "a", ""), 5*time.Second)

	w.server.Stop()
	waittest.Until(t, "the connection is lost", func() bool { return !w.bus.Connected() })
	if _, err := w.client.Observe(t.Context(), spec); !fault.Is(err, fault.Transient) {
		t.Errorf("Observe without NATS: %v, want Transient", err)
	}
	back := w.bus.Reconnected()
	w.server.Restart()
	waittest.Receive(t, "the connection is back", back)
	// The key of a may have expired meanwhile: the list keeps it until its
	// gateway has had time to write it again.
	w.announce(t, record("ns", "b", ""), time.Hour)
	await(t, lists, a, b)
	await(t, lists, b)
}

func TestTwoWatchesShareOneList(t *testing.T) {
	w := newWorld(t)
	spec := demand.Spec{Namespace: "ns", MaxIsolated: 8}
	one, two := w.watch(t, spec), w.watch(t, spec)
	a := demand.Session{Key: "ns_a", Model: "a"}
	w.announce(t, record("ns", "a", ""), time.Hour)
	await(t, one, a)
	await(t, two, a)
}
