package gateway

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gorizond/koldun/internal/httpserver"
	"github.com/gorizond/koldun/internal/queue"
	"github.com/gorizond/koldun/internal/registry"
)

// A task is a request for text that may be queued.
type task struct {
	g       *Gateway
	c       *call
	dialect dialect
	wish    wish
	unknown []string // parameters that no engine knows
	permit  *permit
	request *queue.Request // nil once it is stored: it may be large
	ref     queue.Ref
	until   time.Time // the backstop: dispatcher and runner hold the same limits, but may be gone
	follow  follower
	release func() // ends the demand
}

// run queues the request and shows what becomes of it.
func (t *task) run(w http.ResponseWriter, r *http.Request) {
	defer t.end()
	if !t.start(r.Context(), w) {
		return
	}
	if t.wish.stream {
		t.c.outcome = t.stream(r.Context(), w)
	} else {
		t.c.outcome = t.collect(r.Context(), w)
	}
}

// start stores the request. It reports whether that was done; otherwise the
// client has been told.
func (t *task) start(ctx context.Context, w http.ResponseWriter) bool {
	g, c := t.g, t.c
	t.release = g.demand.hold(registry.Demand{
		Version: 1, Session: t.request.Session, Namespace: namespaceOf(c.model), Model: nameOf(c.model),
	})
	t.until = time.Now().Add(g.cfg.QueueTimeout + g.cfg.ResponseTimeout + g.pace.backstop)
	frames, refused := g.queued(ctx, t.request)
	t.request = nil
	if refused != nil {
		c.outcome = refused.Code
		refuse(w, refused)
		return false
	}
	admission := time.Since(c.begun)
	g.metrics.admission.Observe(admission.Seconds())
	w.Header().Set(headerOverhead, strconv.FormatFloat(admission.Seconds()*1000, 'f', 2, 64))
	t.follow = follower{frames: frames, metrics: g.metrics.of(c.model, c.operation), begun: c.begun, permit: t.permit}
	return true
}

// end settles what the request has used. If nobody has ended it, it is
// cancelled.
func (t *task) end() {
	c, f := t.c, &t.follow
	if f.frames != nil {
		f.frames.Close()
		if !f.ended {
			t.g.cancelLate(t.ref, c.outcome)
		}
	}
	c.usage, c.worked, c.pieces = f.frame.Usage, !f.started.IsZero(), f.pieces
	t.permit.end(c.tokens(), time.Now())
	t.release()
	t.g.metrics.outcome(c.model, c.outcome)
}

// queued stores a request, and follows it from the moment before.
func (g *Gateway) queued(ctx context.Context, request *queue.Request) (frames, *refusal) {
	frames, err := g.queue.Follow(request.Ref())
	if err != nil {
		g.log.Warn("cannot follow a request", "request", request.ID, "error", err)
		return nil, errUnavailable()
	}
	ctx, cancel := context.WithTimeout(ctx, g.pace.publish)
	defer cancel()
	if err := g.queue.Publish(ctx, *request); err != nil {
		frames.Close()
		g.log.Warn("cannot queue a request", "request", request.ID, "error", err)
		refused := ofPublish(err)
		if refused.Code == errUnavailable().Code { // it may have been stored all the same
			g.cancelLate(request.Ref(), "not-confirmed")
		}
		return nil, refused
	}
	return frames, nil
}

var errBackstop = errors.New("the request outlived all its limits")

// cancelLate drops a request without making anybody wait for it.
func (g *Gateway) cancelLate(ref queue.Ref, reason string) {
	started := g.errands.run(g.pace.cancel, func(ctx context.Context) {
		if err := g.queue.Cancel(ctx, ref, reason); err != nil {
			g.log.Warn("cannot cancel a request", "request", ref.ID, "error", err)
		}
	})
	if !started {
		g.log.Warn("too busy to cancel a request", "request", ref.ID)
	}
}

// ofContext tells why waiting ended. The word is the outcome, for logs.
func ofContext(ctx context.Context) (outcome string, told *refusal) {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errBackstop):
		return "timeout", errTimeout()
	case errors.Is(cause, httpserver.ErrShutdown):
		return "shutdown", errShutdown()
	case cause != nil:
		return disconnected, nil // nobody is there to be told
	}
	return "internal", errInternal()
}
