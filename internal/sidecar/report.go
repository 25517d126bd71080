package sidecar

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
)

const (
	reportTry      = 2 * time.Second // one try to be heard
	reportPauseMin = 50 * time.Millisecond
	reportPauseMax = 2 * time.Second
)

// report tells the leader of each end until it has acknowledged it.
func (r *runner) report(ctx context.Context) {
	pause := reportPauseMin
	for {
		end, ok := r.unreported()
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-r.toReport:
				continue
			}
		}
		if r.tell(ctx, end) {
			pause = reportPauseMin
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
			pause = min(2*pause, reportPauseMax)
		}
	}
}

// tell makes one try, and reports whether the leader took note.
func (r *runner) tell(ctx context.Context, end bus.AttemptEnd) bool {
	ctx, cancel := context.WithTimeout(ctx, reportTry)
	defer cancel()
	ack, err := bus.Call[bus.Ack](ctx, r.cfg.Bus, names.EndSubject(r.cfg.Session), end)
	if err != nil || !ack.OK {
		r.cfg.Logger.Debug("the end of an attempt is not acknowledged yet", "request", end.Request, "error", err)
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = r.ends[1:]
	if len(r.ends) == 0 {
		r.ends = nil
		close(r.reported)
	}
	r.touch()
	return true
}

func (r *runner) unreported() (bus.AttemptEnd, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ends) == 0 {
		return bus.AttemptEnd{}, false
	}
	return r.ends[0], true
}
