package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/httpserver"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/registry"
)

// Our own headers.
const (
	headerIgnored      = "X-Koldun-Ignored"      // parameters without effect
	headerQueue        = "X-Koldun-Queue-Ms"     // until the engine started
	headerOverhead     = "X-Koldun-Overhead-Ms"  // until the request was stored
	headerConversation = "X-Koldun-Conversation" // of the client: turns with the same value belong together
)

// disconnected is the outcome of a request whose client did not wait.
const disconnected = "disconnected"

// handleChat is POST /v1/chat/completions.
func (g *Gateway) handleChat(w http.ResponseWriter, r *http.Request) {
	chat, refused := g.readChat(w, r)
	if refused != nil {
		refuse(w, refused)
		return
	}
	c := callOf(r)
	model, refused := g.resolve(c.caller, chat.Model)
	if refused != nil {
		refuse(w, refused)
		return
	}
	c.model = model.ID()
	request, err := g.request(r, chat, model)
	if err != nil {
		g.log.Error("cannot encode a request", "request", requestID(c.id), "error", err)
		refuse(w, errInternal())
		return
	}
	if ignored := ignoredHeader(chat.Ignored()); ignored != "" {
		w.Header().Set(headerIgnored, ignored)
	}
	g.serveChat(w, r, chat, request)
}

// serveChat queues a request and shows what becomes of it.
func (g *Gateway) serveChat(w http.ResponseWriter, r *http.Request, chat openai.ChatRequest, request bus.Request) {
	c, ref := callOf(r), request.Ref()
	defer func() { g.metrics.outcome(c.model, c.outcome) }()
	defer g.demand.hold(registry.Demand{
		Version: 1, Session: request.Session, Namespace: namespaceOf(c.model), Model: nameOf(c.model),
	})()
	// A backstop: the dispatcher and the runner hold the same limits, but they
	// may be gone.
	ctx, cancel := context.WithTimeoutCause(r.Context(), g.cfg.QueueTimeout+g.cfg.ResponseTimeout+backstop, errBackstop)
	defer cancel()

	frames, err := g.queue.Follow(ref)
	if err != nil {
		g.log.Warn("cannot follow a request", "request", request.ID, "error", err)
		c.outcome = errUnavailable().Code
		refuse(w, errUnavailable())
		return
	}
	defer frames.Close()
	if err := g.publish(ctx, request); err != nil {
		g.log.Warn("cannot queue a request", "request", request.ID, "error", err)
		refused := ofPublish(err)
		if refused.Code == errUnavailable().Code { // it may have been stored all the same
			g.cancelLate(ref, "not-confirmed")
		}
		c.outcome = refused.Code
		refuse(w, refused)
		return
	}
	admission := time.Since(c.begun)
	g.metrics.admission.Observe(admission.Seconds())
	w.Header().Set(headerOverhead, strconv.FormatFloat(admission.Seconds()*1000, 'f', 2, 64))

	follow := &follower{frames: frames, metrics: g.metrics.of(c.model), begun: c.begun}
	if chat.Stream {
		c.outcome = g.stream(ctx, w, follow, chat, c)
	} else {
		c.outcome = g.collect(ctx, w, follow, c)
	}
	if !follow.ended {
		g.cancelLate(ref, c.outcome)
	}
}

func (g *Gateway) publish(ctx context.Context, request bus.Request) error {
	ctx, cancel := context.WithTimeout(ctx, g.pace.publish)
	defer cancel()
	return g.queue.Publish(ctx, request)
}

const backstop = 30 * time.Second

var errBackstop = errors.New("the request outlived all its limits")

// cancelLate drops a request without making anybody wait for it.
func (g *Gateway) cancelLate(ref bus.Ref, reason string) {
	started := g.errands.run(g.pace.cancel, func(ctx context.Context) {
		if err := g.queue.Cancel(ctx, ref, reason); err != nil {
			g.log.Warn("cannot cancel a request", "request", ref.ID, "error", err)
		}
	})
	if !started {
		g.log.Warn("too busy to cancel a request", "request", ref.ID)
	}
}

// readChat reads and validates the body.
func (g *Gateway) readChat(w http.ResponseWriter, r *http.Request) (openai.ChatRequest, *refusal) {
	if !mayBeJSON(r) {
		return openai.ChatRequest{}, errNotJSON()
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, g.cfg.MaxBodyBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return openai.ChatRequest{}, errTooLarge(g.cfg.MaxBodyBytes)
	case err != nil:
		return openai.ChatRequest{}, errBodyBroken()
	}
	// The deadline for the body must not outlast it: it would end the watch
	// for a client that leaves, and the request with it. It stays if the body
	// is not whole, because the server reads on before it answers.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	chat, err := openai.ParseChat(body)
	if err != nil {
		var invalid *openai.Error
		if errors.As(err, &invalid) {
			return openai.ChatRequest{}, &refusal{Error: *invalid}
		}
		return openai.ChatRequest{}, errInternal()
	}
	return chat, nil
}

// mayBeJSON reports whether the body may be taken for JSON. Without a word
// about it (curl -d says it is a form) it is, except from a browser on a page
// of somebody else: such a page can send anything but declared JSON to a
// gateway on its visitor's machine without being asked.
func mayBeJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json")) {
		return true
	}
	return new(http.CrossOriginProtection).Check(r) == nil
}

// request is the envelope in which a chat is queued.
func (g *Gateway) request(r *http.Request, chat openai.ChatRequest, model registry.Model) (bus.Request, error) {
	c := callOf(r)
	chat.Model = model.ID()
	affinity := conversation(c.tenant, r.Header.Get(headerConversation), chat.Messages)
	body, err := json.Marshal(chat)
	if err != nil {
		return bus.Request{}, err
	}
	return bus.Request{
		ID:       requestID(c.id),
		Session:  names.Session(model.Namespace, model.Name, ""),
		Tenant:   c.tenant,
		Model:    model.ID(),
		Created:  c.begun,
		Deadline: c.begun.Add(g.cfg.QueueTimeout),
		Timeout:  g.cfg.ResponseTimeout,
		Affinity: affinity,
		Body:     body,
	}, nil
}

// conversation names the conversation of a request, for the runner that may
// still hold its beginning: what the client says, or else its messages up to
// the first of the user, which all later turns repeat. It is told apart by tenant.
func conversation(tenant, explicit string, messages []openai.Message) string {
	if explicit != "" {
		return names.Hash(16, tenant, "explicit", explicit)
	}
	parts := []string{tenant, "prefix"}
	for _, m := range messages {
		parts = append(parts, string(m.Role), m.Content)
		if m.Role == openai.User {
			break
		}
	}
	return names.Hash(16, parts...)
}

// ignoredHeader lists names in a header. Those that do not look like
// parameters, or would be too many, are left out.
func ignoredHeader(ignored []string) string {
	const most = 32
	var out []string
	for _, name := range ignored {
		if isParameter(name) && len(out) < most {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

func isParameter(name string) bool {
	if name == "" || len(name) > 40 {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
}

func namespaceOf(id string) string { namespace, _, _ := strings.Cut(id, "/"); return namespace }
func nameOf(id string) string      { _, name, _ := strings.Cut(id, "/"); return name }

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
