package queue_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

func TestDepthAndOldest(t *testing.T) {
	b := connect(t, natstest.Start(t))
	ctx := testContext(t)
	none := func(string) bool { return false }
	if n, err := b.Depth(ctx, "s"); err != nil || n != 0 {
		t.Errorf("Depth of nothing = %d, %v", n, err)
	}
	if at, err := b.Oldest(ctx, "s", none); err != nil || !at.IsZero() {
		t.Errorf("Oldest of nothing = %v, %v", at, err)
	}
	var seqs []uint64
	for _, id := range []string{"r1", "r2", "r3"} {
		r := request(id)
		if id == "r3" {
			r.Tenant = "another"
		}
		seq, err := b.Publish(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, seq)
	}
	other := request("r4")
	other.Session = "s2"
	if _, err := b.Publish(ctx, other); err != nil {
		t.Fatal(err)
	}
	if n, err := b.Depth(ctx, "s"); err != nil || n != 3 {
		t.Errorf("Depth = %d, %v, want 3", n, err)
	}
	first, err := b.Oldest(ctx, "s", none)
	if err != nil || first.IsZero() {
		t.Fatalf("Oldest = %v, %v", first, err)
	}
	third, err := b.Oldest(ctx, "s", func(id string) bool { return id != "r3" })
	if err != nil || !third.After(first) {
		t.Errorf("Oldest but two = %v, %v, want one after %v", third, err, first)
	}
	if at, err := b.Oldest(ctx, "s", func(string) bool { return true }); err != nil || !at.IsZero() {
		t.Errorf("Oldest of what is passed over = %v, %v", at, err)
	}
	if err := b.Queue.Delete(ctx, seqs[0]); err != nil {
		t.Fatal(err)
	}
	if n, err := b.Depth(ctx, "s"); err != nil || n != 2 {
		t.Errorf("Depth = %d, %v, want 2", n, err)
	}

	// A leader knows which of them have ended.
	stop, err := bus.Serve(b.Bus, names.DepthSubject("s"), func(string, queue.DepthQuery) (queue.Depth, bool) {
		return queue.Depth{Requests: 1}, true
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := b.Depth(ctx, "s"); err != nil || n != 1 {
		t.Errorf("Depth by the leader = %d, %v, want 1", n, err)
	}
	stop()
	if n, err := b.Depth(ctx, "s"); err != nil || n != 2 {
		t.Errorf("Depth without the leader = %d, %v, want 2", n, err)
	}
}
