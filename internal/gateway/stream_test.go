package gateway

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/queue"
)

// A heap holds frames that have all come already, up to a number.
type heap struct {
	left []queue.Frame
	come int
}

func (h *heap) Close() {}

func (h *heap) Ready() (queue.Frame, bool) {
	if h.come == 0 {
		return queue.Frame{}, false
	}
	h.come--
	f := h.left[0]
	h.left = h.left[1:]
	return f, true
}

func (h *heap) Next(context.Context) (queue.Frame, error) {
	h.come++
	f, _ := h.Ready()
	return f, nil
}

// A flushCounter counts how often an answer was flushed.
type flushCounter struct {
	*httptest.ResponseRecorder
	flushed int
}

func (c *flushCounter) Flush() { c.flushed++ }

// TestWhatComesTogetherGoesTogether shows that pieces which have come are
// flushed once, and others before anybody waits for more.
func TestWhatComesTogetherGoesTogether(t *testing.T) {
	piece := func(text string) queue.Frame { return queue.Frame{Kind: queue.FrameDelta, Text: text} }
	end := queue.Frame{Kind: queue.FrameEnd, FinishReason: "stop", Usage: &queue.Usage{}}
	failed := queue.Frame{Kind: queue.FrameError, Error: &queue.Failure{Code: queue.CodeInterrupted}}
	long := strings.Repeat("x", enoughText)
	cases := map[string]struct {
		frames  []queue.Frame
		come    int
		flushes int
		holds   string
	}{
		"AllAtOnce":  {[]queue.Frame{{Kind: queue.FrameStarted}, piece("one"), piece("two"), end}, 4, 1, "[DONE]"},
		"OneByOne":   {[]queue.Frame{{Kind: queue.FrameStarted}, piece("one"), piece("two"), end}, 0, 3, "[DONE]"},
		"Much":       {[]queue.Frame{piece(long), piece(long), end}, 3, 3, "[DONE]"},
		"TextBroken": {[]queue.Frame{piece("one"), failed}, 2, 1, `"one"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.gateway.queue = memoryQueue{func() frames { return &heap{left: c.frames, come: c.come} }}
			r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions",
				strings.NewReader(`{"model":"tiny","stream":true,"messages":[{"role":"user","content":"hi"}]}`))
			r.Header.Set("Content-Type", "application/json")
			rec := &flushCounter{ResponseRecorder: httptest.NewRecorder()}
			w.gateway.Handler().ServeHTTP(rec, r)
			body, _ := io.ReadAll(rec.Body)
			if rec.flushed != c.flushes || !strings.Contains(string(body), c.holds) {
				t.Errorf("flushed %d times, want %d:\n%s", rec.flushed, c.flushes, body)
			}
			if strings.Contains(string(body), "[DONE]") != (c.holds == "[DONE]") {
				t.Errorf("it is not told rightly how it ended:\n%s", body)
			}
		})
	}
}
