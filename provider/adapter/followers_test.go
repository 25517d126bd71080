package adapter

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gorizond/koldun/provider/requeue"
)

// TestFollowers checks that a resource has one watch: the same spec and connection
// keep it, others replace it, and a failed watch starts again.
func TestFollowers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewFollowers(requeue.NewTracker())
		owner := requeue.Key{Kind: "Stream", NamespacedName: types.NamespacedName{Name: "a"}}
		var running, begun atomic.Int32
		watch := func(ctx context.Context, _ func()) error {
			begun.Add(1)
			running.Add(1)
			<-ctx.Done()
			running.Add(-1)
			return nil
		}
		expect := func(what string, wantRunning, wantBegun int32) {
			t.Helper()
			synctest.Wait()
			if r, b := running.Load(), begun.Load(); r != wantRunning || b != wantBegun {
				t.Errorf("%s: got %d running and %d started, want %d and %d", what, r, b, wantRunning, wantBegun)
			}
		}
		f.follow(owner, 1, "spec", watch)
		f.follow(owner, 1, "spec", watch)
		expect("the same twice", 1, 1)
		f.follow(owner, 1, "other", watch)
		expect("another spec", 1, 2)
		f.follow(owner, 2, "other", watch)
		expect("another connection", 1, 3)
		f.Stop(owner)
		expect("stopped", 0, 3)
		failing := func(context.Context, func()) error { begun.Add(1); return context.Canceled }
		f.follow(owner, 2, "other", failing)
		expect("failed", 0, 4)
		f.follow(owner, 2, "other", watch)
		expect("started again", 1, 5)
		f.follow(owner, 2, "unwatched", nil)
		expect("a spec without a watch", 0, 5)
		f.follow(owner, 2, "other", watch)
		expect("watched again", 1, 6)
		f.Close()
		expect("closed", 0, 6)
		f.follow(owner, 3, "other", watch)
		expect("after the end", 0, 6)
	})
}

// TestEventsAreNotRepeated checks that a repeated event is sent once in ten minutes,
// and a different one at once.
func TestEventsAreNotRepeated(t *testing.T) {
	now := time.Now()
	s := &sent{last: map[types.UID]record{}, now: func() time.Time { return now }}
	down := event.Event{Type: event.TypeWarning, Reason: "Cannot", Message: "no server"}
	up := event.Event{Type: event.TypeNormal, Reason: "Can", Message: "there it is"}
	for i, c := range []struct {
		of    types.UID
		event event.Event
		after time.Duration
		again bool
	}{
		{"a", down, 0, false}, {"a", down, time.Second, true}, {"b", down, 0, false}, {"a", down, 9 * time.Minute, true},
		{"a", down, time.Minute, false}, {"a", up, 0, false}, {"a", down, 0, false},
	} {
		now = now.Add(c.after)
		if got := s.again(c.of, c.event); got != c.again {
			t.Errorf("event %d: got repeated %v, want %v", i, got, c.again)
		}
	}
}
