package gateway

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/gateway/limits"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// A refusal is an error as the client sees it. The functions of this file make
// all refusals: other errors are logged, and the client gets one of these.
type refusal struct {
	openai.Error
	retryAfter time.Duration // 0: no hint
	limit      limits.Limit  // that was reached, for metrics
	final      bool          // the same request would fail again, whatever the status says
	allow      string        // value of the Allow header, or ""
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

func errShortToken() *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusUnauthorized, Type: openai.InvalidRequest, Code: openai.CodeInvalidKey,
		Message: "The API token is too short: tokens have " + strconv.Itoa(registry.MinTokenBytes) + " bytes or more.",
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

func errHost() *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusMisdirectedRequest, Type: openai.InvalidRequest, Code: "host_not_allowed",
		Message: "This server does not serve the host that the request names. It is for programs on this machine: use localhost or 127.0.0.1.",
	}}
}

// errNoEndpoint lists the endpoints of the API.
func errNoEndpoint(endpoints []string) *refusal {
	last := len(endpoints) - 1
	return &refusal{Error: openai.Error{
		Status: http.StatusNotFound, Type: openai.InvalidRequest, Code: "unknown_url",
		Message: "There is nothing here. This server has " + strings.Join(endpoints[:last], ", ") + " and " + endpoints[last] + ".",
	}}
}

func errMethod(allowed string) *refusal {
	return &refusal{allow: allowed, Error: openai.Error{
		Status: http.StatusMethodNotAllowed, Type: openai.InvalidRequest, Code: "method_not_allowed",
		Message: "The method is not supported here. Allowed: " + allowed + ".",
	}}
}

// errNotServed refuses an operation that no engine of the model serves.
func errNotServed(model string, op openai.Operation) *refusal {
	return &refusal{Error: *openai.BadRequest("model", "operation_not_supported",
		"The engines of the model '"+model+"' do not serve the operation '"+string(op)+"'. Name another model.")}
}

func errNoCount() *refusal {
	return &refusal{Error: *openai.BadRequest("", "operation_not_supported",
		"Tokens cannot be counted here without an answer: send the request to /v1/messages with 'max_tokens' 1, and read 'usage.input_tokens'.")}
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

func errBusy() *refusal {
	return &refusal{retryAfter: time.Second, limit: "memory", Error: openai.Error{
		Status: http.StatusServiceUnavailable, Type: openai.ServerError, Code: "overloaded",
		Message: "Too many large requests arrive at the same time. Try again later.",
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
	return &refusal{retryAfter: 15 * time.Second, limit: limits.TenantQueue, Error: openai.Error{
		Status: http.StatusTooManyRequests, Type: openai.RateLimit, Code: openai.CodeRateLimitExceeded,
		Message: "Too many of your requests are waiting. Try again when some of them have been answered.",
	}}
}

func errSessionFull() *refusal {
	return &refusal{retryAfter: 15 * time.Second, limit: limits.SessionQueue, Error: openai.Error{
		Status: http.StatusTooManyRequests, Type: openai.RateLimit, Code: openai.CodeRateLimitExceeded,
		Message: "Too many requests for this model are waiting. Try again later.",
	}}
}

// errTooManyChoices refuses more choices than a limit lets pass at a time.
func errTooManyChoices(most int64) *refusal {
	return &refusal{limit: limits.Choices, Error: *openai.BadRequest("n", openai.CodeInvalidValue,
		"'n' must be at most "+strconv.FormatInt(most, 10)+": each choice counts as a request for the limits.")}
}

// concurrentRetry is the hint for a tenant with too many requests at the same
// time: when one of them ends cannot be known.
const concurrentRetry = 2 * time.Second

// errLimit returns the refusal of requests that a limit does not admit.
func errLimit(r *limits.Reached) *refusal {
	switch r.Limit {
	case limits.Choices:
		return errTooManyChoices(r.Most)
	case limits.Requests:
		return errRate(r, "requests per minute", r.Wait)
	case limits.Tokens:
		return errRate(r, "tokens per minute", r.Wait)
	case limits.Concurrency:
		return errRate(r, "requests at the same time", concurrentRetry)
	case limits.TenantQueue:
		return errTenantFull()
	case limits.SessionQueue:
		return errSessionFull()
	}
	return errInternal()
}

// errRate names the unit of a limit for people.
func errRate(r *limits.Reached, unit string, wait time.Duration) *refusal {
	return &refusal{retryAfter: max(wait, time.Second), limit: r.Limit, Error: openai.Error{
		Status: http.StatusTooManyRequests, Type: openai.RateLimit, Code: openai.CodeRateLimitExceeded,
		Message: "The limit of " + strconv.FormatInt(r.Most, 10) + " " + unit + " is reached. Try again later.",
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

func errDeadline(limit time.Duration) *refusal {
	return &refusal{final: true, Error: openai.Error{
		Status: http.StatusGatewayTimeout, Type: openai.ServerError, Code: queue.CodeDeadline,
		Message: "The request did not end within its time limit of " + limit.String() + ".",
	}}
}

func errNoTimeLimit() *refusal {
	return &refusal{Error: *openai.BadRequest(headerTimeout, openai.CodeInvalidValue,
		"'"+headerTimeout+"' is a number of seconds above 0, such as 2.5, or a duration, such as 1m30s.")}
}

func errExpired() *refusal {
	return &refusal{retryAfter: 30 * time.Second, Error: openai.Error{
		Status: http.StatusServiceUnavailable, Type: openai.ServerError, Code: "expired",
		Message: "No engine became free in time. Try again later.",
	}}
}

// errServerBusy passes on what the server behind a runner has said.
func errServerBusy(f *queue.Failure) *refusal {
	wait := time.Duration(max(f.RetryAfter, 1)) * time.Second
	return &refusal{retryAfter: wait, Error: openai.Error{
		Status: http.StatusServiceUnavailable, Type: openai.ServerError, Code: f.Code, Message: f.Message,
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

// failureRefusal returns the refusal for a failure that dispatcher or runner
// reports of a request with a limit of time. It keeps only messages about the request itself, which hold nothing
// but the client's own input.
func failureRefusal(f *queue.Failure, limit time.Duration) *refusal {
	if f == nil {
		return errInternal()
	}
	switch f.Code {
	case queue.CodeInvalidRequest, queue.CodeContextLength:
		return &refusal{Error: *openai.BadRequest(cmp.Or(f.Param, "messages"), f.Code, f.Message)}
	case queue.CodeUnsupported:
		return &refusal{Error: *openai.BadRequest(f.Param, openai.CodeUnsupported, f.Message)}
	case queue.CodeBusy:
		return errServerBusy(f)
	case queue.CodeExpired:
		return errExpired()
	case queue.CodeTimeout:
		return errTimeout()
	case queue.CodeDeadline:
		return errDeadline(limit)
	case queue.CodeCancelled:
		return errCancelled()
	case queue.CodeInterrupted:
		return errInterrupted()
	}
	return errEngine()
}

// publishRefusal returns the refusal for a request that could not be stored.
func publishRefusal(err error) *refusal {
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

// shown cuts a text of the client to a length fit for an error message.
func shown(s string) string {
	const most = 200
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
