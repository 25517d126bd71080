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

// follow makes the runner not ready as soon as its engine has ended or has
// lost a worker, so that no request is assigned to it while another runner is
// idle. Without it, the next request would find out.
func (w engineWatcher) follow(ctx context.Context) {
	if w.r.cfg.Supervisor == nil {
		return
	}
	for session := ""; ctx.Err() == nil; {
		now, err := w.r.cfg.Supervisor.Session(ctx, session)
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
			w.engineEnded()
		}
		session = now
	}
}

// engineEnded leaves running attempts alone: their own connections to the engine
// end.
func (w engineWatcher) engineEnded() {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	if w.r.engine.ready {
		w.r.cfg.Logger.Warn("the engine has ended, or has lost a worker")
	}
	w.r.engine.endings++
	w.setReady(false)
	raise(w.r.suspect)
}

func (w engineWatcher) ended() int {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	return w.r.engine.endings
}

// rest waits before the next attempt to get a token. While the engine loads, it
// announces the progress, and ends as soon as the engine serves.
func (w engineWatcher) rest(ctx context.Context, pause time.Duration, loads bool) {
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
		if loads && w.r.cfg.Supervisor != nil && w.look(ctx) {
			return
		}
	}
}

// look announces what the engine is doing, and reports whether it serves. An engine
// that serves makes no more progress: if it generates no token, the cause is another.
func (w engineWatcher) look(ctx context.Context) bool {
	state, err := w.r.cfg.Supervisor.State(ctx)
	if err != nil {
		return false
	}
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	progress := state
	if state == serves {
		progress = ""
	}
	if w.r.engine.setProgress(progress) {
		w.r.changedByRequest()
	}
	return state == serves
}

// serves is the state of an engine that takes requests.
const serves = "serving"
