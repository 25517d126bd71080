package sidecar

import (
	"slices"
	"time"
)

// drain refuses assignments, and blocks until all attempts have ended and were
// reported, or until its time limit.
func (r *runner) drain() {
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
	close(r.drains)
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
	close(r.drained)
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
