package sidecar

import (
	"context"
	"slices"
	"time"
)

const (
	// drainBegins is how long GET /drained waits for a drain. The kubelet
	// signals all containers of a pod that stops at the same time, so the drain begins
	// at once; when it restarts only the engine's container, there is no drain.
	drainBegins = 2 * time.Second
	// reportGrace is how long Run waits at its end for the leader to acknowledge
	// ends.
	reportGrace = 5 * time.Second
)

// A drain ends the work of a runner. It has no mutex: begun and done are closed once.
type drain struct {
	r     *runner
	begun chan struct{} // closed when the drain begins
	done  chan struct{} // closed when no attempt uses the engine any more
}

func newDrain(r *runner) *drain {
	return &drain{r: r, begun: make(chan struct{}), done: make(chan struct{})}
}

// run refuses assignments, and blocks until all attempts have ended and were
// reported, or until its time limit.
func (d *drain) run() {
	r := d.r
	r.mu.Lock()
	r.draining = true
	r.changed()
	running, idle := slices.Clone(r.slots.running), r.slots.idle
	var handedBack []*attempt
	for _, a := range running {
		if a.first.IsZero() {
			a.givenBack = true
			handedBack = append(handedBack, a)
		}
	}
	r.mu.Unlock()
	close(d.begun)
	for _, a := range handedBack {
		// Without text, another runner can start over, which is faster than
		// finishing a long prompt.
		a.cancel(errHandedBack)
	}
	grace := time.NewTimer(r.cfg.Grace)
	defer grace.Stop()
	select {
	case <-idle:
	case <-grace.C:
		for _, a := range running {
			a.cancel(errHandedBack)
		}
		<-idle
	}
	close(d.done)
	r.mu.Lock()
	reported := r.outbox.empty
	pending := len(r.outbox.ends)
	r.mu.Unlock()
	if r.cfg.Bus.Closed() {
		return
	}
	timer := time.NewTimer(reportGrace)
	defer timer.Stop()
	select {
	case <-reported:
	case <-timer.C:
		r.cfg.Logger.Warn("no dispatcher took note of the last ends", "ends", pending)
	}
}

// await waits until no attempt uses the engine any more, at most for the
// grace period. Without a drain it returns after drainBegins.
func (d *drain) await(ctx context.Context) {
	if !within(ctx, d.begun, drainBegins) {
		return
	}
	within(ctx, d.done, d.r.cfg.Grace)
}

// within reports whether a channel is closed within a time.
func within(ctx context.Context, closed <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-closed:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}
