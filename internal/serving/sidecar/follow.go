package sidecar

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// followAgain is the pause after a supervisor did not answer.
const followAgain = time.Second

// An engineFollower learns from a supervisor when the engine of its runner has ended. It has no
// state of its own.
type engineFollower struct{ r *runner }

// follow makes the runner not ready as soon as its engine has ended or has
// lost a worker, so that no request is assigned to it while another runner is
// idle. Without it, the next request would find out.
func (f engineFollower) follow(ctx context.Context) {
	if f.r.cfg.Supervisor == nil {
		return
	}
	for session := ""; ctx.Err() == nil; {
		now, err := f.r.cfg.Supervisor.Session(ctx, session)
		switch {
		case fault.Is(err, fault.Unsupported):
			return
		case err != nil:
			select {
			case <-ctx.Done():
			case <-time.After(followAgain):
			}
			continue
		case session != "":
			f.ended()
		}
		session = now
	}
}

// ended leaves running attempts alone: their own connections to the engine
// end.
func (f engineFollower) ended() {
	f.r.mu.Lock()
	defer f.r.mu.Unlock()
	if f.r.engine.ready {
		f.r.cfg.Logger.Warn("the engine has ended, or has lost a worker")
	}
	f.r.engine.endings++
	f.r.setReady(false)
	raise(f.r.suspect)
}
