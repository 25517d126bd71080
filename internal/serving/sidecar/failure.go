package sidecar

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// failure returns the failure to report for an error of an attempt at a request, and whether
// the engine need not prove itself again.
func failure(err error, req *queue.Request, cfg *Config) (f *queue.Failure, healthy bool) {
	var refused *openai.Error
	var busy *engineapi.BusyError
	switch {
	case errors.Is(err, errCancelled):
		return &queue.Failure{Code: queue.CodeCancelled, Message: "the request was cancelled"}, true
	case errors.Is(err, errHandedBack), errors.Is(err, errStopped):
		return &queue.Failure{Code: queue.CodeHandedBack, Message: "runner " + cfg.Runner + " is shutting down"}, true
	case errors.Is(err, errTimeout):
		msg := fmt.Sprintf("the answer took longer than %s", req.Timeout)
		return &queue.Failure{Code: queue.CodeTimeout, Message: msg}, true
	case errors.Is(err, errDeadline):
		return req.PastEnd(), true
	case errors.Is(err, engineapi.ErrTimeout):
		return &queue.Failure{Code: queue.CodeEngineFailed, Message: "the engine of runner " + cfg.Runner + " was silent for too long"}, false
	case errors.Is(err, engineapi.ErrLoading): // it has not seen the request
		return &queue.Failure{Code: queue.CodeHandedBack, Message: "the engine of runner " + cfg.Runner + " is not running"}, false
	case errors.Is(err, engineapi.ErrSchema):
		cfg.Logger.Warn("an answer does not fulfil its schema", "request", req.ID)
		return &queue.Failure{Code: queue.CodeEngineFailed, Message: engineapi.ErrSchema.Error()}, true
	case errors.As(err, &busy):
		return busyFailure(busy), false
	case errors.As(err, &refused) && refused.Code == openai.CodeUnsupported && req.Strict:
		return &queue.Failure{Code: queue.CodeUnsupported, Message: refused.Message, Param: refused.Param}, true
	case errors.As(err, &refused) && refused.Code == openai.CodeContextLength:
		return &queue.Failure{Code: queue.CodeContextLength, Message: refused.Message, Param: refused.Param}, true
	case errors.As(err, &refused) && refused.Status >= 400 && refused.Status < 500:
		return &queue.Failure{Code: queue.CodeInvalidRequest, Message: refused.Message, Param: refused.Param}, true
	case fault.Is(err, fault.Invalid):
		return &queue.Failure{Code: queue.CodeInvalidRequest, Message: err.Error()}, true
	}
	// Clients read the message: omit the error, which contains addresses. It
	// describes sockets and no part of the request.
	cfg.Logger.Warn("the engine broke off", "request", req.ID, "error", err)
	return &queue.Failure{Code: queue.CodeEngineFailed, Message: "the engine of runner " + cfg.Runner + " broke off"}, false
}

// busyFailure returns what clients are told of a server that refuses requests for now.
func busyFailure(e *engineapi.BusyError) *queue.Failure {
	const most = 300 // bytes of a foreign text
	message := strings.ToValidUTF8(e.Message, "")
	if len(message) > most {
		message = strings.ToValidUTF8(message[:most], "") + "…"
	}
	return &queue.Failure{
		Code:       queue.CodeBusy,
		Message:    fmt.Sprintf("the server of this model refuses requests for now (%d): %s", e.Status, message),
		RetryAfter: int(math.Ceil(e.RetryAfter.Seconds())),
	}
}

// errUnhonoured refuses a request of which the engine would ignore something.
func errUnhonoured(ignored []string) error {
	return openai.BadRequest(ignored[0], openai.CodeUnsupported,
		"the engine of this model does not honour '"+strings.Join(ignored, "', '")+"', and this server refuses what it would have to ignore")
}
