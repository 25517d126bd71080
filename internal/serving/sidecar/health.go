package sidecar

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gorizond/koldun/internal/network/httpserver"
)

// drainBegins is how long GET /drained waits for a drain. The kubelet
// signals all containers of a pod that stops at the same time, so the drain begins
// at once; when it restarts only the engine's container, there is no drain.
const drainBegins = 2 * time.Second

// health serves /healthz, /readyz (the engine generates and NATS is there) and
// /metrics, and for the container of an engine that has no supervisor:
//
//   - /engine/readyz: the engine generates.
//   - /engine/livez: it does not hang.
//   - /drained: the answer comes when no attempt uses the engine any more, or soon
//     if the sidecar is not stopped.
func (r *runner) health() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", httpserver.Health(r.metrics.registry,
		httpserver.Check{Name: "nats", Probe: func(context.Context) error { return r.cfg.Bus.Lost() }},
		httpserver.Check{Name: "engine", Probe: r.checkServing},
	))
	mux.Handle("GET /engine/readyz", httpserver.Checks(httpserver.Check{Name: "engine", Probe: r.checkGenerating}))
	mux.Handle("GET /engine/livez", httpserver.Checks(httpserver.Check{Name: "engine", Probe: r.checkHang}))
	mux.HandleFunc("GET /drained", func(w http.ResponseWriter, req *http.Request) {
		r.awaitDrained(req.Context())
		w.WriteHeader(http.StatusOK)
	})
	return mux
}

// HealthWithoutBus is the health of a sidecar that has not reached NATS yet. The
// engine does not depend on NATS: it is ready if it answers.
func HealthWithoutBus(e Engine, nats httpserver.Check) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", httpserver.Health(nil, nats))
	mux.Handle("GET /engine/readyz", httpserver.Checks(httpserver.Check{Name: "engine", Probe: e.Alive}))
	mux.Handle("GET /engine/livez", httpserver.Checks())
	mux.Handle("GET /drained", httpserver.Checks())
	return mux
}

// checkServing returns why the runner takes no requests, or nil.
func (r *runner) checkServing(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.draining:
		return errors.New("draining")
	case !r.engine.ready && len(r.slots.running) == 0:
		return r.engine.tokenless()
	}
	return nil
}

// checkGenerating returns why the engine is not ready, or nil.
func (r *runner) checkGenerating(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine.ready {
		return nil
	}
	return r.engine.tokenless()
}

// checkHang returns an error if the engine hangs.
func (r *runner) checkHang(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine.hungAt.IsZero() || r.slots.generatesSince(r.engine.hungAt.UnixNano()) {
		return nil
	}
	return errors.New("it was silent for too long, and no token has come out of it since")
}

// awaitDrained waits until no attempt uses the engine any more, at most for the
// grace period. Without a drain it returns after drainBegins.
func (r *runner) awaitDrained(ctx context.Context) {
	if !within(ctx, r.drains, drainBegins) {
		return
	}
	within(ctx, r.drained, r.cfg.Grace)
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
