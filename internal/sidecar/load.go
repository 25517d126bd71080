package sidecar

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/engineapi"
	"github.com/gorizond/koldun/internal/fault"
)

const (
	loadEvery   = 2 * time.Second
	loadTimeout = 5 * time.Second
	// loadAgain is the pause after a server answered that it does not say its load.
	loadAgain = 30 * time.Second
)

// watchLoad makes the runner offer fewer slots while others keep its server busy,
// until ctx ends. Of a server that does not say its load, it offers all slots. One
// that does not answer may be too busy for that, as llama.cpp's is when its HTTP
// threads wait: then nothing changes.
func (r *runner) watchLoad(ctx context.Context) {
	all := share{slots: r.cfg.Slots, offered: r.cfg.Slots}
	s := all
	for ctx.Err() == nil {
		pause := loadEvery
		load, own, err := r.readLoad(ctx)
		switch {
		case err == nil:
			s = s.next(load, own)
			r.metrics.setLoad(load)
		case fault.Is(err, fault.Unsupported) && r.isReady(): // else it may not say it yet
			s, pause = all, loadAgain
			r.metrics.load.Reset()
			fallthrough
		default:
			r.cfg.Logger.Debug("the server does not say how busy it is", "error", err)
		}
		r.setTaken(s.taken())
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// readLoad reads the load, and how many of the requests may be the runner's: those
// that ran at any time while it was read.
func (r *runner) readLoad(ctx context.Context) (load engineapi.Load, own int, err error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	r.mu.Lock()
	own = len(r.running) - r.begins
	r.mu.Unlock()
	load, err = r.cfg.Loaded.Load(ctx)
	r.mu.Lock()
	own += r.begins
	r.mu.Unlock()
	return load, own, err
}

func (r *runner) setTaken(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken == n {
		return
	}
	r.taken = n
	r.metrics.taken.Set(float64(n))
	r.changed()
}
