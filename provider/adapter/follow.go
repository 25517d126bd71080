package adapter

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/provider/requeue"
)

// Followers run the watches of managed resources: at most one for each. It is
// safe for concurrent use.
type Followers struct {
	tracker *requeue.Tracker

	mu      sync.Mutex
	closed  bool
	running map[requeue.Key]*follower
	wg      sync.WaitGroup
}

type follower struct {
	of     [2]any // connection and spec of the watch
	cancel context.CancelFunc
	done   chan struct{}
}

// NewFollowers returns Followers that enqueue resources through tracker.
func NewFollowers(tracker *requeue.Tracker) *Followers {
	return &Followers{tracker: tracker, running: map[requeue.Key]*follower{}}
}

// follow runs the watch of a resource, unless one of the same spec and connection
// runs already. With a nil watch none runs afterwards.
func (f *Followers) follow(owner requeue.Key, connection any, spec any, watch catalog.Watch) {
	if watch == nil {
		f.Stop(owner)
		return
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return // it came from JSON
	}
	of := [2]any{connection, string(text)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if old := f.running[owner]; old != nil {
		select {
		case <-old.done: // it failed
		default:
			if old.of == of {
				return
			}
			old.cancel()
		}
	}
	if f.closed {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	one := &follower{of: of, cancel: cancel, done: make(chan struct{})}
	f.running[owner] = one
	f.wg.Go(func() {
		defer close(one.done)
		defer cancel()
		// An error shows at the next observation, which starts the watch again.
		_ = watch(ctx, func() {
			if ctx.Err() == nil {
				f.tracker.Enqueue(owner)
			}
		})
	})
}

// Stop ends the watch of a resource. It does not wait for its end.
func (f *Followers) Stop(owner requeue.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.running[owner]; one != nil {
		one.cancel()
		delete(f.running, owner)
	}
}

// Close stops all watches, and returns when they have ended.
func (f *Followers) Close() {
	f.mu.Lock()
	f.closed = true
	for _, one := range f.running {
		one.cancel()
	}
	f.mu.Unlock()
	f.wg.Wait()
}
