package sidecar

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/fault"
)

const loadTimeout = 5 * time.Second

// A loadWatcher keeps the slots that its runner does not offer. It has no mutex, because
// they are the runner's.
type loadWatcher struct{ r *runner }

// watch makes the runner offer fewer slots while others keep its server busy,
// until ctx ends.
func (w loadWatcher) watch(ctx context.Context) {
	s := share{slots: w.r.cfg.Slots, offered: w.r.cfg.Slots}
	for ctx.Err() == nil {
		load, own, err := w.readLoad(ctx)
		next, pause := s.after(load, own, err, w.r.isReady())
		s = next
		if err != nil {
			w.r.cfg.Logger.Debug("the server does not say how busy it is", "error", err)
		} else {
			w.r.metrics.setLoad(load)
		}
		if fault.Is(err, fault.Unsupported) {
			w.r.metrics.load.Reset()
		}
		w.setTaken(s.taken())
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// readLoad reads the load, and how many of the requests may be the runner's: those
// that ran at any time while it was read. A server counts each input of embeddings.
func (w loadWatcher) readLoad(ctx context.Context) (load engineapi.Load, own int, err error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	w.r.mu.Lock()
	ended := w.r.slots.ended()
	w.r.mu.Unlock()
	load, err = w.r.cfg.Loaded.Load(ctx)
	w.r.mu.Lock()
	own = w.r.slots.inputs - ended
	w.r.mu.Unlock()
	return load, own, err
}

func (w loadWatcher) setTaken(n int) {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	if w.r.slots.taken == n {
		return
	}
	w.r.slots.taken = n
	w.r.metrics.taken.Set(float64(n))
	w.r.changed()
}
