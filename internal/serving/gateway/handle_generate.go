package gateway

import (
	"net/http"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/gateway/limits"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// handleGenerate returns the handler of requests that an engine answers. It
// decodes and admits the request; running the generation queues it. begin returns the
// operation of one request.
func (g *Gateway) handleGenerate(begin func(incoming) operation) handleFunc {
	return func(w http.ResponseWriter, r *http.Request, in incoming) (task, *refusal) {
		in.body = &meter{bodies: g.bodies, tenant: in.caller.tenant}
		t := &generation{body: in.body, reply: reply{g: g, in: in, operation: begin(in)}}
		kept := false // also if decoding panics
		defer func() {
			if !kept {
				t.body.free()
			}
		}()
		body, refused := g.readBody(w, r, t.body)
		if refused != nil {
			return t, refused
		}
		parsed, err := g.parsing.begin(r.Context(), int64(len(body)))
		if err != nil {
			return t, errBodyBroken() // the client has left
		}
		defer parsed()
		req, refused := decodeBody(r.Context(), body, t.operation.decode)
		if refused == nil {
			refused = t.prepare(w.Header(), r, req)
		}
		if refused != nil {
			return t, refused
		}
		out, refused := t.permitted(w.Header(), req)
		kept = refused == nil
		return out, refused
	}
}

// prepare makes the envelope in which the request is queued. It sets the header that
// names ignored parameters.
func (t *generation) prepare(h http.Header, r *http.Request, req openai.Request) *refusal {
	g, who := t.g, t.in.caller
	model, refused := g.resolve(who, req.Model)
	if refused != nil {
		return refused
	}
	t.model, t.alias = model.ID(), model.Alias
	if !g.runners.Serve(t.model, req.Operation) {
		return errNotServed(shown(req.Model), req.Operation)
	}
	if lacking := req.Refusal(g.runners.Offered(t.model, req)); lacking != nil {
		return &refusal{Error: *lacking}
	}
	t.leftOut = req.LeftOut
	forecast := t.without(g.runners.Forecast(t.model, req))
	if g.cfg.StrictParameters && len(forecast) > 0 {
		return errIgnored(forecast)
	}
	setIgnored(h, forecast)
	priority, refused := who.priority(r.Header.Get(queue.HeaderPriority))
	if refused != nil {
		return refused
	}
	limit, refused := timeLimit(r.Header.Get(headerTimeout), g.cfg.RequestTimeout)
	if refused != nil {
		return refused
	}
	where := g.place(r.Context(), who, r.Header.Get(headerConversation), model, req.Opening)
	body, err := req.Body(t.model, 0)
	if err != nil {
		g.log.Error("cannot encode a request", "request", requestID(t.in.id), "error", err)
		return errInternal()
	}
	t.request = &queue.Request{
		ID:          requestID(t.in.id),
		Session:     where.session,
		Tenant:      who.tenant,
		Model:       t.model,
		Created:     t.in.begun,
		Deadline:    t.in.begun.Add(g.cfg.QueueTimeout),
		Timeout:     g.cfg.ResponseTimeout,
		Affinity:    where.conversation,
		Priority:    priority,
		Traceparent: t.in.traceparent,
		Strict:      g.cfg.StrictParameters,
		Operation:   req.Operation,
		Features:    req.Features,
		Body:        body,
	}
	if limit > 0 {
		t.request.EndBy = t.in.begun.Add(limit)
	}
	t.limit, t.ref = limit, t.request.Ref()
	t.streamed, t.includeUsage, t.base64 = req.Stream, req.IncludeUsage, req.Base64
	t.filter = newReasoningFilter(t.operation.reasoning, req.Reasoning, g.cfg.Reasoning)
	t.prompt = int64(req.PromptTokens)
	return nil
}

// permitted gets a permit to queue the request, or one for each of several choices. It
// returns what is to answer.
func (t *generation) permitted(h http.Header, req openai.Request) (task, *refusal) {
	if req.Choices <= 1 {
		return t, t.admit(h, 1)
	}
	if refused := t.admit(h, req.Choices); refused != nil {
		return t, refused
	}
	c, refused := t.split(req)
	if refused != nil {
		t.permit.End(0, time.Now())
		return t, refused
	}
	for i, p := range t.permit.Split(req.Choices) {
		c.each[i].permit = p
	}
	return c, nil
}

// admit gets a permit for as many requests if the limits allow it, and sets the headers
// that say what is left of them.
func (t *generation) admit(h http.Header, count int) *refusal {
	permit, left, reached := t.g.usage.Admit(limits.Admission{
		Tenant: t.in.caller.tenant, Session: t.request.Session, Limits: t.in.caller.limits(&t.g.cfg),
		Prompt: t.prompt, Bytes: int64(len(t.request.Body)), Count: count,
	}, time.Now())
	left.SetHeaders(h)
	t.permit = permit
	if reached == nil {
		return nil
	}
	refused := errLimit(reached)
	t.g.metrics.refused(reached.Limit)
	t.outcome = refused.Code
	return refused
}

// always returns the same operation for all requests.
func always(op operation) func(incoming) operation { return func(incoming) operation { return op } }
