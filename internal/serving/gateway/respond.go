package gateway

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gorizond/koldun/internal/openai"
)

// ServeHTTP writes the refusal as the whole answer.
func (e *refusal) ServeHTTP(w http.ResponseWriter, _ *http.Request) { refuse(w, e) }

// refuse writes the refusal as the whole answer.
func refuse(w http.ResponseWriter, e *refusal) {
	h := w.Header()
	if e.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.retryAfter.Seconds()))))
	}
	if e.final || isFinal(e.Status) {
		h.Set("X-Should-Retry", "false")
	}
	if e.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="koldun"`)
	}
	if e.allow != "" {
		h.Set("Allow", e.allow)
	}
	h.Set("Cache-Control", "no-store")
	writeJSON(w, e.Status, shapeOf(w, &e.Error))
}

// isFinal reports whether a request that gets this status will get it again. OpenAI's clients
// repeat 409 and 5xx unless a header says not to, and Claude Code and Codex also 401.
func isFinal(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status < 500
}

// shapeOf returns the error as the clients of the endpoint expect it.
func shapeOf(w http.ResponseWriter, e *openai.Error) any {
	if own, ok := w.(*statusWriter); ok && own.shape != nil {
		return own.shape(e)
	}
	return e
}

// writeTimeout is how long a client may take for an answer in one piece.
const writeTimeout = time.Minute

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := openai.Encode(v)
	if err != nil { // impossible for the types of this package
		status, b = http.StatusInternalServerError, []byte(`{}`)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)+1))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) //nolint:gosec // it is JSON, and the header says so
}

// statusWriter remembers the status. http.ResponseController reaches the writer
// below by Unwrap, to flush and to set deadlines.
type statusWriter struct {
	http.ResponseWriter
	status int
	shape  func(*openai.Error) any // see endpoint
}

func (s *statusWriter) WriteHeader(status int) {
	if s.status == 0 {
		s.status = status
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *statusWriter) Write(b []byte) (int, error) {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	return s.ResponseWriter.Write(b)
}

func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// code returns the status that was sent, or 499 if the client left before.
func (s *statusWriter) code() int {
	if s.status == 0 {
		return statusClientGone
	}
	return s.status
}

// statusClientGone is the status that nginx logs for a client that did not wait.
const statusClientGone = 499
