package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/network/httpserver"
	"github.com/gorizond/koldun/internal/openai"
)

// encode writes a value whose fields can always be encoded.
func encode(v any) []byte {
	b, err := openai.Encode(v)
	if err != nil {
		panic("api: " + err.Error())
	}
	return b
}

// writeJSON sends a whole answer, with its length, on which clients of
// dllama-api rely.
func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // it is JSON, and the header says so
}

func writeError(w http.ResponseWriter, e *openai.Error) {
	if e.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, e.Status, encode(e))
}

// notFound answers requests for no endpoint, and names those that there are.
func notFound(endpoints string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		writeError(w, &openai.Error{
			Status: http.StatusNotFound, Type: openai.InvalidRequest,
			Message: "there is no " + r.Method + " " + r.URL.Path + " here: see " + endpoints,
		})
	}
}

func onlyMethod(method string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", method+", OPTIONS")
		writeError(w, &openai.Error{
			Status: http.StatusMethodNotAllowed, Type: openai.InvalidRequest,
			Message: "the method must be " + method + ", not " + r.Method,
		})
	}
}

// outcomeOf returns the outcome of a request for logs and metrics, and the error for a
// client that still waits for it; nil if there is none. param is as for asError.
func outcomeOf(ctx context.Context, result llama.Result, err error, param string) (outcome string, failure *openai.Error) {
	switch {
	case err == nil:
		return string(result.Finish), nil
	case gone(ctx, err):
		return outcomeCancelled, nil
	}
	failure = asError(err, param)
	if failure.Status < http.StatusInternalServerError {
		return outcomeRefused, failure
	}
	return outcomeFailed, failure
}

// asError returns why there is no answer as an error of OpenAI's API. The parameter
// is the one with the prompt.
func asError(err error, param string) *openai.Error {
	var stated *openai.Error
	if errors.As(err, &stated) {
		return stated
	}
	var tooLong *llama.TooLongError
	if errors.As(err, &tooLong) {
		return openai.BadRequest(param, openai.CodeContextLength, tooLong.Error())
	}
	if errors.Is(err, llama.ErrClosed) || errors.Is(err, httpserver.ErrShutdown) {
		return unavailable("the server is shutting down")
	}
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Unsupported:
		return openai.BadRequest(param, openai.CodeInvalidValue, err.Error())
	}
	return &openai.Error{Status: http.StatusInternalServerError, Type: openai.ServerError, Message: err.Error()}
}

func unavailable(message string) *openai.Error {
	return &openai.Error{Status: http.StatusServiceUnavailable, Type: openai.ServerError, Message: message}
}

// errClient means that the client is gone.
var errClient = fault.As(fault.Interrupted, errors.New("the client is gone"))

// gone reports whether the client caused err.
func gone(ctx context.Context, err error) bool {
	return errors.Is(err, errClient) || errors.Is(context.Cause(ctx), context.Canceled)
}
