package gateway

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/queue"
)

// A refusal is an error as the client sees it. Those made in this file are
// all there are: whatever happens inside is logged, and told as one of them.
type refusal struct {
	openai.Error
	retryAfter time.Duration // 0: no hint
	limit      string        // that was reached, for metrics: one of a few words
	final      bool          // trying the same again is of no use, whatever the status says
}

func errNoToken() *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusUnauthorized, Type: openai.InvalidRequest, Code: openai.CodeInvalidKey,
		Message: "No API token was given: send it as 'Authorization: Bearer TOKEN' or as 'X-Api-Key: TOKEN'.",
	}}
}

func errBadToken() *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusUnauthorized, Type: openai.InvalidRequest, Code: openai.CodeInvalidKey,
		Message: "The API token is not known, disabled or expired.",
	}}
}

func errNotAllowed(model string) *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusForbidden, Type: openai.Permission, Param: "model", Code: "model_not_allowed",
		Message: "The API token may not use the model '" + model + "'.",
	}}
}

func errNoModel(model string) *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusNotFound, Type: openai.InvalidRequest, Param: "model", Code: openai.CodeModelNotFound,
		Message: "The model '" + model + "' does not exist. GET /v1/models lists the models there are.",
	}}
}

func errNoEndpoint() *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusNotFound, Type: openai.InvalidRequest, Code: "unknown_url",
		Message: "There is nothing here. This server has POST /v1/chat/completions, POST /v1/completions, GET /v1/models and GET /v1/models/{id}.",
	}}
}

func errMethod(allowed string) *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusMethodNotAllowed, Type: openai.InvalidRequest, Code: "method_not_allowed",
		Message: "The method is not supported here. Allowed: " + allowed + ".",
	}}
}

func errNotJSON() *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusUnsupportedMediaType, Type: openai.InvalidRequest, Code: "unsupported_media_type",
		Message: "The body must be JSON: send 'Content-Type: application/json'.",
	}}
}

func errTooLarge(limit int64) *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusRequestEntityTooLarge, Type: openai.InvalidRequest, Code: "request_too_large",
		Message: "The request is too large. The limit is " + strconv.FormatInt(limit, 10) + " bytes.",
	}}
}

func errTooLargeToQueue() *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusRequestEntityTooLarge, Type: openai.InvalidRequest, Code: "request_too_large",
		Message: "The request is larger than the queue takes.",
	}}
}

func errBodyBroken() *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusBadRequest, Type: openai.InvalidRequest, Code: "incomplete_body",
		Message: "The body broke off, or took too long to arrive.",
	}}
}

func errInternal() *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusInternalServerError, Type: openai.ServerError, Code: "internal_error",
		Message: "Something went wrong in the server. The request id in x-request-id helps to find out what.",
	}}
}

func errUnavailable() *refusal {
	return &refusal{retryAfter: 5 * time.Second, Error: openai.Error{
		Status: http.StatusServiceUnavailable, Type: openai.ServerError, Code: "queue_unavailable",
		Message: "The queue cannot be reached at the moment. Try again later.",
	}}
}

func errQueueFull() *refusal {
	return &refusal{retryAfter: 30 * time.Second, Error: openai.Error{
		Status: http.StatusServiceUnavailable, Type: openai.ServerError, Code: "queue_full",
		Message: "The queue is full. Try again later.",
	}}
}

func errTenantFull() *refusal {
	return &refusal{retryAfter: 15 * time.Second, limit: "tenant-queue", Error: openai.Error{
		Status: http.StatusTooManyRequests, Type: openai.RateLimit, Code: openai.CodeRateLimitExceeded,
		Message: "Too many of your requests are waiting. Try again when some of them have been answered.",
	}}
}

func errSessionFull() *refusal {
	return &refusal{retryAfter: 15 * time.Second, limit: "session-queue", Error: openai.Error{
		Status: http.StatusTooManyRequests, Type: openai.RateLimit, Code: openai.CodeRateLimitExceeded,
		Message: "Too many requests for this model are waiting. Try again later.",
	}}
}

// errRate names a limit by a word for metrics and by words for people.
func errRate(word, what string, limit int64, wait time.Duration) *refusal {
	return &refusal{retryAfter: max(wait, time.Second), limit: word, Error: openai.Error{
		Status: http.StatusTooManyRequests, Type: openai.RateLimit, Code: openai.CodeRateLimitExceeded,
		Message: "The limit of " + strconv.FormatInt(limit, 10) + " " + what + " is reached. Try again later.",
	}}
}

func errIgnored(ignored []string) *refusal {
	name := shown(ignored[0])
	message := "'" + name + "' cannot be honoured here"
	if n := len(ignored) - 1; n > 0 {
		message += ", nor can " + strconv.Itoa(n) + " more: " + ignoredHeader(ignored[1:])
	}
	return &refusal{Error: *openai.BadRequest(name, openai.CodeUnsupported, message+". This server refuses what it would have to ignore.")}
}

func errNoPriority() *refusal {
	return &refusal{Error: *openai.BadRequest(queue.HeaderPriority, openai.CodeInvalidValue, "'"+queue.HeaderPriority+"' is high, normal or low.")}
}

func errTimeout() *refusal {
	return &refusal{final: true, Error: openai.Error{
		Status: http.StatusGatewayTimeout, Type: openai.ServerError, Code: "timeout",
		Message: "The answer took longer than this server allows.",
	}}
}

func errExpired() *refusal {
	return &refusal{retryAfter: 30 * time.Second, Error: openai.Error{
		Status: http.StatusServiceUnavailable, Type: openai.ServerError, Code: "expired",
		Message: "No engine became free in time. Try again later.",
	}}
}

func errCancelled() *refusal {
	return &refusal{final: true, Error: openai.Error{
		Status: http.StatusConflict, Type: openai.ServerError, Code: "cancelled",
		Message: "The request was cancelled.",
	}}
}

func errEngine() *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusBadGateway, Type: openai.ServerError, Code: "engine_failed",
		Message: "The engine failed while it worked on the request.",
	}}
}

func errInterrupted() *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusBadGateway, Type: openai.ServerError, Code: "interrupted",
		Message: "The generation broke off. What came before is not complete.",
	}}
}

func errShutdown() *refusal {
	return &refusal{retryAfter: time.Second, Error: openai.Error{
		Status: http.StatusServiceUnavailable, Type: openai.ServerError, Code: "shutting_down",
		Message: "The server is shutting down. Try again.",
	}}
}

// ofFailure tells a failure that the bus reports. Only messages about the
// request itself are passed on: they are about the client's own input.
func ofFailure(f *queue.Failure) *refusal {
	if f == nil {
		return errInternal()
	}
	switch f.Code {
	case queue.CodeInvalidRequest, queue.CodeContextLength:
		return &refusal{Error: *openai.BadRequest("messages", f.Code, f.Message)}
	case queue.CodeUnsupported:
		return &refusal{Error: *openai.BadRequest(f.Param, openai.CodeUnsupported, f.Message)}
	case queue.CodeExpired:
		return errExpired()
	case queue.CodeTimeout:
		return errTimeout()
	case queue.CodeCancelled:
		return errCancelled()
	case queue.CodeInterrupted:
		return errInterrupted()
	}
	return errEngine()
}

// ofPublish tells why a request could not be stored.
func ofPublish(err error) *refusal {
	switch {
	case errors.Is(err, queue.ErrTenantFull):
		return errTenantFull()
	case errors.Is(err, queue.ErrQueueFull):
		return errQueueFull()
	case fault.Is(err, fault.Invalid):
		return errTooLargeToQueue()
	}
	return errUnavailable()
}

// refuse writes the error as the whole answer.
func refuse(w http.ResponseWriter, e *refusal) {
	h := w.Header()
	if e.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.retryAfter.Seconds()))))
	}
	if e.final {
		h.Set("X-Should-Retry", "false") // OpenAI's clients retry 409 and 5xx by themselves, unless told
	}
	h.Set("Cache-Control", "no-store")
	writeJSON(w, e.Status, &e.Error)
}

// writePatience is how long a client may take for an answer in one piece.
const writePatience = time.Minute

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := openai.Encode(v)
	if err != nil { // only our own types come here, and they can be encoded
		status, b = http.StatusInternalServerError, []byte(`{}`)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writePatience))
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)+1))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) //nolint:gosec // it is JSON, and the header says so
}
