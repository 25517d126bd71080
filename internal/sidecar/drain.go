package sidecar

import "time"

// drain takes no more work and blocks until what is there has ended and was
// reported, or the time for it is over.
func (r *runner) drain() {
	r.mu.Lock()
	r.draining = true
	r.touch()
	a, idle := r.current, r.idle
	handBack := a != nil && a.first.IsZero()
	if handBack {
		a.givenBack = true
	}
	r.mu.Unlock()
	if handBack {
		// No text was sent, so somebody else can begin anew: that is sooner
		// than what may be left of a long prompt.
		a.cancel(errHandedBack)
	}
	if a != nil {
		patient := time.NewTimer(r.cfg.Grace)
		defer patient.Stop()
		select {
		case <-idle:
		case <-patient.C:
			a.cancel(errHandedBack)
			<-idle
		}
	}
	r.mu.Lock()
	reported := r.reported
	pending := len(r.ends)
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

// hasEnds reports whether there is something a leader should still read.
func (r *runner) hasEnds() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ends) > 0
}
