package sidecar

import (
	"context"
	"errors"
	"net/http"

	"github.com/gorizond/koldun/internal/network/httpserver"
)

// A health answers probes and serves metrics. It has no state of its own.
type health struct {
	r     *runner
	drain *drain
}

// handler serves /healthz, /readyz (the engine generates and NATS is there) and
// /metrics, and for the container of an engine that has no supervisor:
//
//   - /engine/readyz: the engine generates.
//   - /engine/livez: it does not hang.
//   - /drained: the answer comes when no attempt uses the engine any more, or soon
//     if the sidecar is not stopped.
func (h health) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", httpserver.Health(h.r.metrics.registry,
		httpserver.Check{Name: "nats", Probe: func(context.Context) error { return h.r.cfg.Bus.Lost() }},
		httpserver.Check{Name: "engine", Probe: h.checkServing},
	))
	mux.Handle("GET /engine/readyz", httpserver.Checks(httpserver.Check{Name: "engine", Probe: h.checkGenerating}))
	mux.Handle("GET /engine/livez", httpserver.Checks(httpserver.Check{Name: "engine", Probe: h.checkHang}))
	mux.HandleFunc("GET /drained", func(w http.ResponseWriter, req *http.Request) {
		h.drain.await(req.Context())
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
func (h health) checkServing(context.Context) error {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	switch {
	case h.r.draining:
		return errors.New("draining")
	case !h.r.engine.ready && len(h.r.slots.running) == 0:
		return h.r.engine.tokenless()
	}
	return nil
}

// checkGenerating returns why the engine is not ready, or nil.
func (h health) checkGenerating(context.Context) error {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	if h.r.engine.ready {
		return nil
	}
	return h.r.engine.tokenless()
}

// checkHang returns an error if the engine hangs.
func (h health) checkHang(context.Context) error {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	if h.r.engine.hungAt.IsZero() || h.r.slots.generatesSince(h.r.engine.hungAt.UnixNano()) {
		return nil
	}
	return errors.New("it was silent for too long, and no token has come out of it since")
}
