package catalog

import (
	"context"
	"testing"

	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/waittest"
)

// sharedOnly are the Connections of a reconcile that has ended.
type sharedOnly struct {
	Connections
	t      *testing.T
	shared *Shared
}

func (c sharedOnly) Shared(context.Context) (*Shared, error) { return c.shared, nil }

func (c sharedOnly) NATS(context.Context) (*bus.Bus, map[string][]byte, error) {
	c.t.Error("the watch opens a connection")
	return nil, nil, fault.Errorf(fault.Transient, "the reconcile has ended")
}

// A watch outlives the reconcile that begins it: a connection that it opened
// would never be released.
func TestArtifactWatchOpensNoConnection(t *testing.T) {
	s := natstest.Start(t)
	b, err := bus.Connect(t.Context(), bus.Config{URL: s.URL(), User: natstest.User, Password: natstest.Password, Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if err := b.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	shared := NewShared(b)
	t.Cleanup(shared.Close)
	const key = "ns.model.fetch"
	watch, err := watchArtifact(t.Context(), sharedOnly{t: t, shared: shared}, modelartifact.Spec{ProgressKey: key})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	changed, ended := make(chan struct{}, 16), make(chan error, 1)
	go func() { ended <- watch(ctx, func() { changed <- struct{}{} }) }()
	waittest.Receive(t, "the first change", changed)
	if _, err := registry.Progress(b).Put(t.Context(), key, progress.Report{Stage: "fetch", Phase: progress.Running}); err != nil {
		t.Fatal(err)
	}
	waittest.Receive(t, "the change of the stage", changed)
	stop()
	if err := waittest.Receive(t, "the end of the watch", ended); err != nil {
		t.Error(err)
	}
}
