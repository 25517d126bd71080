package sidecar

import (
	"context"
	"errors"
	"time"

	"github.com/gorizond/koldun/internal/backoff"
	"github.com/gorizond/koldun/internal/engine/engineapi"
)

const (
	proveMin   = 200 * time.Millisecond // first pause between attempts to get a token
	proveMax   = 5 * time.Second
	maxPause   = time.Minute // that a busy server can ask for
	aliveEvery = 10 * time.Second
	// lookEvery is how often the state of an engine that loads is read.
	lookEvery = 250 * time.Millisecond
)

// An engineWatcher keeps what its runner knows of the engine. It has no mutex, because the
// state is the runner's.
type engineWatcher struct{ r *runner }

// watch makes the runner ready when the engine has generated a token, and not
// ready when the engine is gone or an attempt has failed, until the engine has
// generated a token again. Attempts in other slots continue.
func (w engineWatcher) watch(ctx context.Context) {
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	for ctx.Err() == nil {
		if !w.r.isReady() {
			w.prove(ctx)
		}
		select {
		case <-ctx.Done():
		case <-w.r.suspect:
		case <-alive.C:
			w.checkAlive(ctx)
		}
	}
}

// prove requests a token until the engine generates one. It waits first if a server
// was too busy for requests, because the proof adds to the load of the server.
func (w engineWatcher) prove(ctx context.Context) {
	if n := w.refusedInARow(); n > 0 {
		w.rest(ctx, w.pause(backoff.Policy{First: proveMin, Most: proveMax}.After(n)), false)
	}
	for pause := proveMin; ctx.Err() == nil; pause = min(2*pause, proveMax) {
		if w.takeHang() {
			w.restart(ctx)
		}
		begun, ended := time.Now(), w.ended()
		res, err := w.warmUp(ctx)
		w.tried(err, begun)
		if err == nil {
			if w.proven(res, ended) {
				w.r.cfg.Logger.Info("the engine generates")
			}
			return
		}
		if !errors.Is(err, engineapi.ErrLoading) && ctx.Err() == nil {
			w.r.cfg.Logger.Warn("the engine does not generate yet", "error", err)
		}
		w.rest(ctx, w.pause(pause), errors.Is(err, engineapi.ErrLoading))
	}
}

// warmUp makes the engine generate one token, which involves all nodes. An answer
// without text is also a proof, because a token may be a part of a character or the
// end of the turn. The result contains the abilities of the engine.
func (w engineWatcher) warmUp(ctx context.Context) (engineapi.Result, error) {
	t := w.r.cfg.Timeouts
	return w.r.cfg.Engine.Do(ctx, engineapi.WarmUp{}, engineapi.Options{Timeouts: engineapi.Timeouts{Connect: t.Connect, First: t.Between, Between: t.Between}},
		func(engineapi.Delta) error { return nil })
}

// tried notes how an attempt to get a token that began at a time ended.
func (w engineWatcher) tried(err error, begun time.Time) {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	if w.r.engine.tried(err, w.r.slots.generatesSince(begun.UnixNano())) {
		w.r.changedByRequest()
	}
}

func (w engineWatcher) refusedInARow() int {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	return w.r.engine.refused
}

func (w engineWatcher) pause(least time.Duration) time.Duration {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	return w.r.engine.pause(least)
}

func (w engineWatcher) takeHang() bool {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	return w.r.engine.takeHang(time.Now())
}

// restart restarts the engine. Without a supervisor, the kubelet does, because
// /engine/livez fails. If the restart fails, the next attempt to get a token shows
// that the engine still hangs.
func (w engineWatcher) restart(ctx context.Context) {
	if w.r.cfg.Supervisor == nil {
		w.r.cfg.Logger.Warn("the engine was silent for too long")
		return
	}
	if err := w.r.cfg.Supervisor.Restart(ctx); err != nil {
		w.r.cfg.Logger.Warn("cannot restart the engine", "error", err)
		return
	}
	w.r.metrics.restarts.Inc()
	w.r.cfg.Logger.Warn("the engine was silent for too long and is restarted")
}

// checkAlive notices an engine that has exited between requests. A busy engine
// runs.
func (w engineWatcher) checkAlive(ctx context.Context) {
	w.r.mu.Lock()
	busy := len(w.r.slots.running) > 0
	w.r.mu.Unlock()
	if busy {
		return
	}
	if err := w.r.cfg.Engine.Alive(ctx); err != nil && !errors.Is(err, engineapi.ErrBusy) && ctx.Err() == nil {
		w.r.cfg.Logger.Warn("the engine does not answer", "error", err)
		w.r.mu.Lock()
		defer w.r.mu.Unlock()
		w.r.setReady(false)
	}
}

// proven makes the runner ready after its engine has generated a token, unless the
// engine has ended more often than before the proof. It reports whether the runner
// is ready.
func (w engineWatcher) proven(res engineapi.Result, ended int) bool {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	if w.r.engine.endings != ended {
		return false
	}
	w.r.engine.learn(res)
	w.r.setReady(true)
	return true
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
