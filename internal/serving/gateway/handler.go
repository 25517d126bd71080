package gateway

import (
	"net/http"
	"time"

	"github.com/gorizond/koldun/internal/network/httpserver"
)

// A handler serves endpoints. This file shows what a request passes, in order.
type handler struct {
	g      *Gateway
	router *router
}

// ServeHTTP gives a request its id and its trace, answers it, and at its end
// counts and logs it. A panic ends only the request that caused it.
//
// A task runs here, once everything that prepared it has returned: the
// memory of an open stream includes the stack from here on.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, ctx := h.g.begin(w, r)
	out := &statusWriter{ResponseWriter: w}
	defer h.g.end(c, out)
	if ctx != r.Context() { // because copying a request takes memory
		r = r.WithContext(ctx)
	}
	if task := h.answer(c, out, r); task != nil {
		clear(r.Header) // which may take as much memory as the stream
		task.run(ctx, out)
	}
}

// answer writes the answer, or returns the task that is to write it. It
// notes in the call what is known of the request by then.
func (h *handler) answer(c *call, w *statusWriter, r *http.Request) task {
	if !httpserver.AllowsHost(h.g.cfg.Hosts, r.Host) {
		refuse(w, errHost())
		return nil
	}
	if shareWithOrigin(h.g.cfg.Origins, w.Header(), r) == preflight {
		c.endpoint = labelPreflight
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	e, instead := h.router.find(r)
	c.endpoint, w.shape = e.label, e.shape
	if w.shape == nil && ofMessages(r) {
		w.shape = messageError
	}
	if instead != nil {
		instead.ServeHTTP(w, r)
		return nil
	}
	var refused *refusal
	if !e.open {
		if c.caller, refused = h.g.authenticate(r, time.Now()); refused != nil {
			refuse(w, refused)
			return nil
		}
	}
	c.task, refused = e.handle(w, r, c.incoming)
	if refused != nil {
		refuse(w, refused)
		return nil
	}
	return c.task
}
