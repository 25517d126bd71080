package gateway

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/serving/gateway/limits"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// A generation is a request for an engine, from its admission to its end.
type generation struct {
	reply
	alias   bool           // whether the model is only a name of members, for which demand creates no pool
	request *queue.Request // nil once it is stored: it may be large
	body    *meter         // holds memory until the request is stored
	prompt  int64          // estimated tokens
	permit  *limits.Permit
	release func() // ends the demand
}

// run queues the request, waits for the answer and writes it.
func (t *generation) run(ctx context.Context, w http.ResponseWriter) {
	defer t.end()
	if !t.start(ctx, w) {
		return
	}
	if t.streamed {
		t.outcome = t.stream(ctx, w)
	} else {
		t.outcome = t.collect(ctx, w)
	}
}

// start stores the request, and reports whether it did. If not, it has written
// the refusal.
func (t *generation) start(ctx context.Context, w http.ResponseWriter) bool {
	g := t.g
	t.hold()
	t.until = t.givesUp(time.Now())
	frames, refused := g.enqueue(ctx, t.request)
	t.request = nil
	t.body.free()
	if refused != nil {
		t.outcome = refused.Code
		refuse(w, refused)
		return false
	}
	overhead := time.Since(t.in.begun)
	g.metrics.admission.Observe(overhead.Seconds())
	w.Header().Set(headerOverhead, strconv.FormatFloat(overhead.Seconds()*1000, 'f', 2, 64))
	t.follow = follower{frames: frames, metrics: g.metrics.of(t.model, t.operation.label), begun: t.in.begun, permit: t.permit}
	return true
}

// hold makes the demand for the model known until release is called.
func (t *generation) hold() {
	t.release = func() {}
	if !t.alias {
		namespace, name, _ := strings.Cut(t.model, "/")
		t.release = t.g.demand.Hold(registry.Demand{Version: 1, Session: t.request.Session, Namespace: namespace, Model: name})
	}
}

// end settles what the request has used, and cancels it unless it has ended.
func (t *generation) end() {
	if t.follow.frames != nil {
		t.follow.frames.Close()
		if !t.follow.ended {
			t.g.cancelLater(t.ref, t.outcome)
		}
	}
	t.permit.End(t.tokens(), time.Now())
	t.body.free()
	t.release()
	t.g.metrics.outcome(t.model, t.outcome)
}

// tokens returns how many tokens the request has used: those that the engine
// has counted, or else the estimated prompt and one for each piece of text, or
// 0 if no engine has worked on it.
func (t *generation) tokens() int64 {
	f := &t.follow
	switch {
	case f.frame.Usage != nil:
		return int64(f.frame.Usage.PromptTokens + f.frame.Usage.CompletionTokens)
	case !f.started.IsZero():
		return t.prompt + int64(f.pieces)
	}
	return 0
}

// enqueue stores a request, and follows it from the moment before.
func (g *Gateway) enqueue(ctx context.Context, request *queue.Request) (frames, *refusal) {
	frames, err := g.queue.Follow(request.Ref())
	if err != nil {
		g.log.Warn("cannot follow a request", "request", request.ID, "error", err)
		return nil, errUnavailable()
	}
	ctx, cancel := context.WithTimeout(ctx, g.timing.publish)
	defer cancel()
	if err := g.queue.Publish(ctx, *request); err != nil {
		frames.Close()
		g.log.Warn("cannot queue a request", "request", request.ID, "error", err)
		refused := publishRefusal(err)
		if refused.Code == errUnavailable().Code { // it may have been stored all the same
			g.cancelLater(request.Ref(), "not-confirmed")
		}
		return nil, refused
	}
	return frames, nil
}

// cancelLater cancels a request in the background.
func (g *Gateway) cancelLater(ref queue.Ref, reason string) {
	started := g.background.run(g.timing.cancel, func(ctx context.Context) {
		if err := g.queue.Cancel(ctx, ref, reason); err != nil {
			g.log.Warn("cannot cancel a request", "request", ref.ID, "error", err)
		}
	})
	if !started {
		g.log.Warn("too busy to cancel a request", "request", ref.ID)
	}
}
