package sidecar

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/fault"
)

const (
	loadEvery   = 2 * time.Second
	loadTimeout = 5 * time.Second
	// loadAgain is the pause after a server answered that it does not say its load.
	loadAgain = 30 * time.Second
	// maxSilent is the number of readings without an answer after which the last
	// answer counts no more: 30 s, or more if the server lets the reader wait.
	maxSilent = 15
)

// watchLoad makes the runner offer fewer slots while others keep its server busy,
// until ctx ends.
func (r *runner) watchLoad(ctx context.Context) {
	s := share{slots: r.cfg.Slots, offered: r.cfg.Slots}
	for ctx.Err() == nil {
		load, own, err := r.readLoad(ctx)
		next, pause := s.after(load, own, err, r.isReady())
		s = next
		if err != nil {
			r.cfg.Logger.Debug("the server does not say how busy it is", "error", err)
		} else {
			r.metrics.setLoad(load)
		}
		if fault.Is(err, fault.Unsupported) {
			r.metrics.load.Reset()
		}
		r.setTaken(s.taken())
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// readLoad reads the load, and how many of the requests may be the runner's: those
// that ran at any time while it was read. A server counts each input of embeddings.
func (r *runner) readLoad(ctx context.Context) (load engineapi.Load, own int, err error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	r.mu.Lock()
	ended := r.slots.ended()
	r.mu.Unlock()
	load, err = r.cfg.Loaded.Load(ctx)
	r.mu.Lock()
	own = r.slots.inputs - ended
	r.mu.Unlock()
	return load, own, err
}

func (r *runner) setTaken(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slots.taken == n {
		return
	}
	r.slots.taken = n
	r.metrics.taken.Set(float64(n))
	r.changed()
}
