package bus_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// Several owners share the stream of requests. Those that name no size leave that of
// the others alone, also the larger one of an earlier version.
func TestSharedRequestStream(t *testing.T) {
	srv := natstest.Start(t)
	ctx := testContext(t)
	b, err := bus.Connect(ctx, bus.Config{URL: srv.URL(), User: natstest.User, Password: natstest.Password})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	spec := func(size int64) bus.StreamSpec {
		s := bus.Streams()[0]
		s.MaxBytes = size
		return s
	}
	for _, step := range []struct{ asked, want int64 }{
		{0, names.RequestMaxBytes}, {300 << 20, 300 << 20}, {0, 300 << 20}, {200 << 20, 200 << 20}, {0, 200 << 20},
	} {
		if err := b.EnsureStream(ctx, spec(step.asked)); err != nil {
			t.Fatal(err)
		}
		have, same, err := b.Manager().CompareStream(ctx, spec(0))
		if err != nil {
			t.Fatal(err)
		}
		if have.Config.Name != names.RequestStream || have.Config.MaxBytes != step.want || !same {
			t.Errorf("after %d is asked for, stream %q holds %d bytes, want %d; unchanged by one that names no size: %t", step.asked, have.Config.Name, have.Config.MaxBytes, step.want, same)
		}
	}
}
