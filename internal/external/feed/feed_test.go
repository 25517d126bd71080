package feed_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/test/waittest"
)

func TestOneSourceRunsWhileSomebodyFollows(t *testing.T) {
	var running, started atomic.Int32
	topics := make(chan string)
	f := feed.New(func(ctx context.Context, tell func(string)) {
		started.Add(1)
		if running.Add(1) > 1 {
			t.Error("two sources run at once")
		}
		defer running.Add(-1)
		for {
			select {
			case <-ctx.Done():
				return
			case topic := <-topics:
				tell(topic)
				topics <- "" // delivered
			}
		}
	})
	tell := func(topic string) {
		t.Helper()
		waittest.Send(t, "the source", topics, topic)
		waittest.Receive(t, "the source has told", topics)
	}
	has := func(news <-chan struct{}) bool {
		select {
		case <-news:
			return true
		default:
			return false
		}
	}
	a, stopA := f.Follow("a")
	b, stopB := f.Follow("b")
	tell("a")
	tell("a") // a pending notification is not repeated
	if !has(a) || has(a) || has(b) {
		t.Error("after news of a: want one notification for a and none for b")
	}
	tell(feed.Everyone)
	if !has(a) || !has(b) {
		t.Error("news for everyone does not reach all followers")
	}
	stopA()
	if running.Load() != 1 {
		t.Error("the source stops while it has a follower")
	}
	stopB()
	if running.Load() != 0 {
		t.Error("the source still runs without followers")
	}
	_, stop := f.Follow("a")
	defer stop()
	tell("a")
	if started.Load() != 2 {
		t.Errorf("started %d times, want 2", started.Load())
	}
}

func TestEachEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	news := make(chan struct{}, 1)
	news <- struct{}{}
	calls := 0
	feed.Each(ctx, news, func() {
		if calls++; calls == 3 {
			cancel()
			return
		}
		news <- struct{}{}
	})
	if calls != 3 {
		t.Errorf("it was called %d times, want 3", calls)
	}
}
