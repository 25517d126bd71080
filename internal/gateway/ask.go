package gateway

import (
	"net/http"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/queue"
	"github.com/gorizond/koldun/internal/registry"
)

// Our own headers.
const (
	headerRequestID    = "X-Request-Id"
	headerIgnored      = "X-Koldun-Ignored"      // parameters without effect
	headerQueue        = "X-Koldun-Queue-Ms"     // until the engine started
	headerOverhead     = "X-Koldun-Overhead-Ms"  // until the request was stored
	headerConversation = "X-Koldun-Conversation" // of the client: turns with the same value belong together
)

// disconnected is the outcome of a request whose client did not wait.
const disconnected = "disconnected"

// A wish is what of a request matters for its answer.
type wish struct {
	stream bool
	usage  bool // in the stream
	sieve  sieve
}

// ask prepares requests for text. What takes long, the wait for the answer, is
// left to around: the less of the stack is in use there, the less memory an
// open stream takes.
func (g *Gateway) ask(d dialect) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r)
		c.operation = d.operation
		t := &task{g: g, c: c, dialect: d}
		if refused := t.prepare(w, r); refused != nil {
			refuse(w, refused)
			return
		}
		c.task = t
	})
}

// prepare reads the request, makes the envelope in which it is queued, and gets
// the permit to queue it.
func (t *task) prepare(w http.ResponseWriter, r *http.Request) *refusal {
	g, c := t.g, t.c
	chat, refused := g.read(w, r, t.dialect.parse)
	if refused != nil {
		return refused
	}
	model, refused := g.resolve(c.caller, chat.Model)
	if refused != nil {
		return refused
	}
	c.model = model.ID()
	t.unknown = chat.Ignored()
	forecast := g.engines.ignored(c.model, chat)
	if all := slices.Concat(t.unknown, forecast); g.cfg.StrictParameters && len(all) > 0 {
		return errIgnored(all)
	}
	t.tellIgnored(w.Header(), forecast)
	priority, refused := priorityOf(c.caller, r.Header.Get(queue.HeaderPriority))
	if refused != nil {
		return refused
	}
	where := g.place(r.Context(), c.caller, r.Header.Get(headerConversation), model, chat.Messages)
	chat.Model = model.ID()
	body, err := chat.MarshalJSON() // not by json.Marshal, which would read it all once more
	if err != nil {
		g.log.Error("cannot encode a request", "request", requestID(c.id), "error", err)
		return errInternal()
	}
	t.request = &queue.Request{
		ID:          requestID(c.id),
		Session:     where.session,
		Tenant:      c.tenant,
		Model:       model.ID(),
		Created:     c.begun,
		Deadline:    c.begun.Add(g.cfg.QueueTimeout),
		Timeout:     g.cfg.ResponseTimeout,
		Affinity:    where.conversation,
		Priority:    priority,
		Traceparent: c.traceparent,
		Strict:      g.cfg.StrictParameters,
		Body:        body,
	}
	t.ref = t.request.Ref()
	t.wish = wish{stream: chat.Stream, usage: chat.IncludeUsage, sieve: newSieve(t.dialect, chat.Reasoning, g.cfg.Reasoning)}
	c.prompt = int64(openai.EstimateTokens(chat.Messages))
	return t.admit(w)
}

// tellIgnored names what the answer does not honour: what nobody here knows, and
// what the engine ignores.
func (t *task) tellIgnored(h http.Header, byEngine []string) {
	if names := ignoredHeader(slices.Concat(t.unknown, byEngine)); names != "" {
		h.Set(headerIgnored, names)
		return
	}
	h.Del(headerIgnored)
}

// admit gets a permit if the limits allow it, and tells what is left of them.
func (t *task) admit(w http.ResponseWriter) *refusal {
	permit, left, refused := t.g.usage.admit(claim{
		tenant: t.c.tenant, session: t.request.Session, limits: t.g.limitsOf(t.c.caller), prompt: t.c.prompt,
	}, time.Now())
	left.tell(w.Header())
	if refused != nil {
		t.g.metrics.refused(refused.limit)
		t.c.outcome = refused.Code
	}
	t.permit = permit
	return refused
}

// limitsOf are the limits of a caller: those of the token, then the gateway's.
func (g *Gateway) limitsOf(who caller) registry.Limits {
	if who.token == nil {
		return g.cfg.Limits
	}
	return who.token.Limits.Or(g.cfg.Limits)
}
