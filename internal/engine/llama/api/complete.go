package api

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/openai"
)

// A reply sends an answer to the client: streamed, or in one piece.
type reply interface {
	// piece sends a part of the answer. The first call comes when the engine
	// starts, without text.
	piece(p llama.Piece) error
	// calls sends pieces of calls of tools.
	calls(calls []openai.ToolCall) error
	// finish ends a complete answer.
	finish(r llama.Result) error
	// fail ends an answer that broke off or never began.
	fail(e *openai.Error)
}

// complete answers a chat.
func (h *Handler) complete(w http.ResponseWriter, r *http.Request) {
	chat, bad := h.readChat(w, r)
	var request llama.Request
	var choice toolcall.Choice
	if bad == nil {
		request, choice, bad = h.ask(r.Context(), r.Header.Get(openai.HeaderTenant), chat)
	}
	if bad != nil {
		h.o.Metrics.refused()
		writeError(w, bad)
		return
	}
	leave := h.enter(w)
	if leave == nil {
		return
	}
	defer leave()
	id, began := "chatcmpl-"+rand.Text(), time.Now()
	out := h.withTools(h.reply(w, chat, id, began), choice)
	h.o.Metrics.inFlight.Inc()
	defer h.o.Metrics.inFlight.Dec()

	result, err := h.engine.Generate(r.Context(), request, out.piece)
	if errors.Is(err, errEnough) {
		result.Finish, err = llama.FinishStop, nil
	}
	if err == nil {
		err = out.finish(result)
	}
	outcome, failure := outcomeOf(r.Context(), result, ofForm(err, chat), "messages")
	if failure != nil {
		out.fail(failure)
	}
	h.o.Metrics.done(outcome, result, time.Since(began))
	log := h.o.Logger.With("id", id, "outcome", outcome, "promptTokens", result.PromptTokens, "cachedTokens", result.CachedTokens,
		"tokens", result.Tokens, "promptTime", result.PromptTime, "answerTime", result.AnswerTime, "duration", time.Since(began))
	if outcome == outcomeFailed {
		log.Error("cannot answer", "error", err)
		return
	}
	log.Info("answered")
}

// enter takes a place among the requests that run or wait, and returns how to leave
// it. If there is none, it refuses the request and returns nil.
func (h *Handler) enter(w http.ResponseWriter) (leave func()) {
	select {
	case h.admit <- struct{}{}:
		return func() { <-h.admit }
	default:
		h.o.Metrics.overloaded()
		writeError(w, unavailable("too many requests wait for the engine"))
		return nil
	}
}

func (h *Handler) reply(w http.ResponseWriter, chat openai.ChatRequest, id string, began time.Time) reply {
	control := http.NewResponseController(w)
	if chat.Stream {
		return &stream{
			w: w, control: control, timeout: h.o.WriteTimeout, id: id, model: h.o.Model, created: began.Unix(), wantUsage: chat.IncludeUsage,
			chunks: openai.NewStream(openai.StreamOptions{ID: id, Model: h.o.Model, Created: began.Unix(), IncludeUsage: chat.IncludeUsage}),
		}
	}
	return &whole{w: w, control: control, timeout: h.o.WriteTimeout, id: id, model: h.o.Model, created: began.Unix()}
}

// whole is a reply in one piece.
type whole struct {
	w         http.ResponseWriter
	control   *http.ResponseController
	timeout   time.Duration
	id, model string
	created   int64
	text      strings.Builder
	logprobs  logprobs
	parts     openai.Parts
}

func (o *whole) piece(p llama.Piece) error {
	o.text.WriteString(p.Text)
	o.parts.Add(o.logprobs.parts(p))
	return nil
}

func (o *whole) calls(calls []openai.ToolCall) error {
	o.parts.Add(&openai.Parts{ToolCalls: calls})
	return nil
}

func (o *whole) finish(r llama.Result) error {
	usage := openai.NewUsage(r.PromptTokens, r.Tokens).WithDetails(new(r.CachedTokens), nil)
	_ = o.control.SetWriteDeadline(time.Now().Add(o.timeout))
	answer := openai.NewCompletion(o.id, o.model, o.created, o.text.String(), string(r.Finish), usage)
	answer.Choices[0].SetParts(&o.parts)
	writeJSON(o.w, http.StatusOK, encode(answer))
	return nil
}

func (o *whole) fail(e *openai.Error) { writeError(o.w, e) }
