package sidecar

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

const (
	// lookEvery is how often the state of an engine that loads is read.
	lookEvery = 250 * time.Millisecond
	// followAgain is the pause after a supervisor did not answer.
	followAgain = time.Second
)

// followEngine makes the runner not ready as soon as its engine has ended or has
// lost a worker, so that no request is assigned to it while another runner is
// idle. Without it, the next request would find out.
func (r *runner) followEngine(ctx context.Context) {
	if r.cfg.Supervisor == nil {
		return
	}
	for session := ""; ctx.Err() == nil; {
		now, err := r.cfg.Supervisor.Session(ctx, session)
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
			r.engineEnded()
		}
		session = now
	}
}

// engineEnded leaves running attempts alone: their own connections to the engine
// end.
func (r *runner) engineEnded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ready {
		r.cfg.Logger.Warn("the engine has ended, or has lost a worker")
	}
	r.endings++
	r.setReady(false)
	r.suspectEngine()
}

func (r *runner) ended() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.endings
}

// suspectEngine makes watchEngine check that the engine still generates. It is
// called with mu held.
func (r *runner) suspectEngine() { raise(r.suspect) }

// rest waits before the next attempt to get a token. While the engine loads, it
// announces the progress, and ends as soon as the engine serves.
func (r *runner) rest(ctx context.Context, pause time.Duration, loads bool) {
	end := time.NewTimer(pause)
	defer end.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-end.C:
			return
		case <-look.C:
		}
		if loads && r.cfg.Supervisor != nil && r.look(ctx) {
			return
		}
	}
}

// look announces what the engine is doing, and reports whether it serves. An engine
// that serves makes no more progress: if it generates no token, the cause is another.
func (r *runner) look(ctx context.Context) bool {
	state, err := r.cfg.Supervisor.State(ctx)
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	progress := state
	if state == serves {
		progress = ""
	}
	if !r.ready && r.progress != progress {
		r.progress = progress
		r.changedByRequest()
	}
	return state == serves
}

// serves is the state of an engine that takes requests.
const serves = "serving"
