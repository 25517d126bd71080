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
	aliveEvery = 10 * time.Second
)

// watchEngine makes the runner ready when the engine has generated a token, and not
// ready when the engine is gone or an attempt has failed, until the engine has
// generated a token again. Attempts in other slots continue.
func (r *runner) watchEngine(ctx context.Context) {
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	for ctx.Err() == nil {
		if !r.isReady() {
			r.prove(ctx)
		}
		select {
		case <-ctx.Done():
		case <-r.suspect:
		case <-alive.C:
			r.checkAlive(ctx)
		}
	}
}

// prove requests a token until the engine generates one. It waits first if a server
// was too busy for requests, because the proof adds to the load of the server.
func (r *runner) prove(ctx context.Context) {
	if n := r.refusedInARow(); n > 0 {
		r.rest(ctx, backoff.Policy{First: proveMin, Most: proveMax}.After(n), false)
	}
	for pause := proveMin; ctx.Err() == nil; pause = min(2*pause, proveMax) {
		if r.hangs.CompareAndSwap(true, false) {
			r.restartEngine(ctx)
		}
		begun, ended := time.Now(), r.ended()
		res, err := r.warmUp(ctx)
		r.hangs.Store(errors.Is(err, engineapi.ErrTimeout) && !r.generated(begun))
		r.setReason(err)
		if err == nil {
			if r.proven(res, ended) {
				r.cfg.Logger.Info("the engine generates")
			}
			return
		}
		if !errors.Is(err, engineapi.ErrLoading) && ctx.Err() == nil {
			r.cfg.Logger.Warn("the engine does not generate yet", "error", err)
		}
		r.rest(ctx, pause, errors.Is(err, engineapi.ErrLoading))
	}
}

// warmUp makes the engine generate one token, which involves all nodes. An answer
// without text is also a proof, because a token may be a part of a character or the
// end of the turn. The result contains the abilities of the engine.
func (r *runner) warmUp(ctx context.Context) (engineapi.Result, error) {
	t := r.cfg.Timeouts
	return r.cfg.Engine.Do(ctx, engineapi.WarmUp{}, engineapi.Options{Timeouts: engineapi.Timeouts{Connect: t.Connect, First: t.Between, Between: t.Between}},
		func(engineapi.Delta) error { return nil })
}

// setReason keeps why the engine is not ready, for the health address. It deletes
// the progress of an engine that does not load.
func (r *runner) setReason(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reason = err
	if !errors.Is(err, engineapi.ErrLoading) && r.progress != "" {
		r.progress = ""
		r.changedByRequest()
	}
}

func (r *runner) refusedInARow() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// generated reports whether a running attempt got something from the engine after
// a moment.
func (r *runner) generated(after time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.slots.generatesSince(after.UnixNano())
}

// restartEngine restarts the engine. Without a supervisor it makes /engine/livez
// fail, so that the kubelet does. If the restart fails, the next attempt to get a
// token shows that the engine still hangs.
func (r *runner) restartEngine(ctx context.Context) {
	r.mu.Lock()
	r.hungAt = time.Now()
	r.mu.Unlock()
	if r.cfg.Supervisor == nil {
		r.cfg.Logger.Warn("the engine was silent for too long")
		return
	}
	if err := r.cfg.Supervisor.Restart(ctx); err != nil {
		r.cfg.Logger.Warn("cannot restart the engine", "error", err)
		return
	}
	r.metrics.restarts.Inc()
	r.cfg.Logger.Warn("the engine was silent for too long and is restarted")
}

// checkAlive notices an engine that has exited between requests. A busy engine
// runs.
func (r *runner) checkAlive(ctx context.Context) {
	r.mu.Lock()
	busy := len(r.slots.running) > 0
	r.mu.Unlock()
	if busy {
		return
	}
	if err := r.cfg.Engine.Alive(ctx); err != nil && !errors.Is(err, engineapi.ErrBusy) && ctx.Err() == nil {
		r.cfg.Logger.Warn("the engine does not answer", "error", err)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.setReady(false)
	}
}

// proven makes the runner ready after its engine has generated a token, unless the
// engine has ended more often than before the proof. It reports whether the runner
// is ready.
func (r *runner) proven(res engineapi.Result, ended int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.endings != ended {
		return false
	}
	r.hungAt = time.Time{}
	r.honours, r.operations, r.features = res.Honours, res.Operations, res.Features
	r.setReady(true)
	return true
}

func (r *runner) isReady() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ready
}

// setReady is called with mu held.
func (r *runner) setReady(ready bool) {
	if r.ready == ready {
		return
	}
	r.ready, r.progress = ready, ""
	r.slots.caches = nil // the warm-up replaced a conversation in the prompt cache
	r.changed()
}
