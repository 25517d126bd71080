package engineapi

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
)

// refused returns an answer that is not 200 as an error with a kind.
func (s *Server) refused(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxError))
	e, _ := serverError(text)
	if e.Message == "" {
		e.Message = "the server answered " + resp.Status
	}
	e.Status = resp.StatusCode
	return s.fail(e, retryAfter(resp.Header, time.Now()))
}

// fail gives an error of the server its kind. Only what is the request's fault
// stays an *openai.Error, which callers show to clients. retryAfter is when a busy
// server wants to be asked again, or 0.
func (s *Server) fail(e *openai.Error, retryAfter time.Duration) error {
	if e.Status == 0 && e.Type == openai.InvalidRequest { // of an event within a stream
		e.Status = http.StatusBadRequest
	}
	switch status := e.Status; {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		busy := &BusyError{Status: status, Message: e.Message, RetryAfter: retryAfter}
		return fault.Errorf(fault.Transient, "cannot use the server at %s now: %w", s.base, busy)
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden:
		return fault.Errorf(fault.Denied, "cannot use the server at %s: it rejects our API key or account (%d): %s", s.base, status, e.Message)
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return fault.Errorf(fault.NotFound, "cannot use the server at %s: it knows no such model or path (%d): %s", s.base, status, e.Message)
	case status >= 300 && status < 400:
		return fault.Errorf(fault.Invalid, "cannot use the server at %s: it answers with a redirect (%d); use the URL that it leads to", s.base, status)
	case status == http.StatusRequestTimeout, status < 400, status >= 500:
		return fault.Errorf(fault.Transient, "cannot read the answer of the server at %s: %s", s.base, e.Message)
	}
	return fault.As(fault.Invalid, e)
}

// serverError reads an error in one of the forms that servers have: an object in
// "error" as OpenAI's, where codes may be numbers; a string in "error"; or the
// object itself, with a "message" or a "detail". ok reports whether there is an
// error at all.
func serverError(data []byte) (e *openai.Error, ok bool) {
	e = &openai.Error{}
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Object  string          `json:"object"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(data, &outer) != nil {
		return e, false
	}
	inner := outer.Error
	if len(inner) == 0 || string(inner) == "null" {
		switch {
		case outer.Object == "error" || outer.Message != "":
			inner = data
		case len(outer.Detail) > 0:
			e.Message = plain(outer.Detail)
			return e, true
		default:
			return e, false
		}
	}
	if json.Unmarshal(inner, &e.Message) == nil {
		return e, true
	}
	var w struct {
		Message json.RawMessage `json:"message"`
		Type    json.RawMessage `json:"type"`
		Param   json.RawMessage `json:"param"`
		Code    json.RawMessage `json:"code"`
	}
	_ = json.Unmarshal(inner, &w) // a field of another type counts as absent
	e.Message, e.Param, e.Code = plain(w.Message), plain(w.Param), plain(w.Code)
	e.Type = openai.ErrorType(plain(w.Type))
	if status := 0; json.Unmarshal(w.Code, &status) == nil {
		e.Status, e.Code = status, ""
	}
	if isContextLength(e) {
		e.Code = openai.CodeContextLength
	}
	return e, true
}

// isContextLength reports whether a request is longer than the context. Few
// servers have OpenAI's code for it.
func isContextLength(e *openai.Error) bool {
	message := strings.ToLower(e.Message)
	says := func(words string) bool { return strings.Contains(message, words) }
	return e.Type == "exceed_context_size_error" || e.Code == openai.CodeContextLength ||
		slices.ContainsFunc([]string{"context length", "context size", "context window", "prompt is too long", "input is too long", "maximum number of tokens"}, says)
}

// plain returns a string as it is, and other JSON as text; null is "".
func plain(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
