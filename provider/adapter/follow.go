package adapter

import (
	"context"
	"encoding/json"
	"sync"

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
	of     [2]any // what is watched, and through which connection
	cancel context.CancelFunc
	done   chan struct{}
}

// NewFollowers is a Followers that wakes through tracker.
func NewFollowers(tracker *requeue.Tracker) *Followers {
	return &Followers{tracker: tracker, running: map[requeue.Key]*follower{}}
}

// follow runs watch for a resource, unless the same is running for it already.
func (f *Followers) follow(owner requeue.Key, connection any, spec any, watch func(ctx context.Context, changed func()) error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return // it came from JSON
	}
	of := [2]any{connection, string(text)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if old := f.running[owner]; old != nil {
		select {
		case <-old.done: // it has failed
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
		// What goes wrong shows at the next look, which begins the watch again.
		_ = watch(ctx, func() {
			if ctx.Err() == nil {
				f.tracker.Enqueue(owner)
			}
		})
	})
}

// Stop the watch of a resource. It does not wait for its end.
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
