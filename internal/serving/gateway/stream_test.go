package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

// An arrivedFrames returns frames of which a number have arrived already.
type arrivedFrames struct {
	left []queue.Frame
	come int
}

func (h *arrivedFrames) Close() {}

func (h *arrivedFrames) Ready() (queue.Frame, bool) {
	if h.come == 0 {
		return queue.Frame{}, false
	}
	h.come--
	f := h.left[0]
	h.left = h.left[1:]
	return f, true
}

func (h *arrivedFrames) Next(context.Context) (queue.Frame, error) {
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

// TestWhatComesTogetherGoesTogether checks that pieces which have arrived are flushed
// once, and others before the wait for more.
func TestWhatComesTogetherGoesTogether(t *testing.T) {
	piece := func(text string) queue.Frame { return queue.Frame{Kind: queue.FrameDelta, Text: text} }
	end := queue.Frame{Kind: queue.FrameEnd, FinishReason: "stop", Usage: &queue.Usage{}}
	failed := queue.Frame{Kind: queue.FrameError, Error: &queue.Failure{Code: queue.CodeInterrupted}}
	long := strings.Repeat("x", flushSize)
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
			w.gateway.queue = memoryQueue{func() frames { return &arrivedFrames{left: c.frames, come: c.come} }}
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
				t.Errorf("wrong end of the stream:\n%s", body)
			}
		})
	}
}

// TestStreamFlushesEachEvent lets the runner continue only after the client has
// received the previous event: a gateway that buffers would block for ever.
func TestStreamFlushesEachEvent(t *testing.T) {
	w := newWorld(t, func(_ *Config, p *timing) { p.quiet, p.keepAlive = time.Hour, time.Hour })
	goOn := make(chan bool)
	startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		s.started()
		for _, text := range []string{"a", "b", "c"} {
			s.text(text)
			await(ctx, goOn)
		}
		s.end("length", 1, 3)
	})
	response := w.open(waittest.Context(t), chatBody(streaming))
	want := map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no",
	}
	for k, v := range want {
		if got := response.Header.Get(k); got != v {
			t.Errorf("%s = %q, want %q", k, got, v)
		}
	}
	if response.Header.Get("X-Koldun-Queue-Ms") == "" || response.Header.Get("X-Koldun-Overhead-Ms") == "" || !strings.HasPrefix(response.Header.Get("X-Request-Id"), "req_") {
		t.Errorf("header = %v", response.Header)
	}
	d := openai.NewDecoder(response.Body, 1<<16)
	var text, finish string
	for {
		e, err := d.Next()
		if err != nil {
			t.Fatal(err)
		}
		if string(e.Data) == openai.Done {
			break
		}
		var c openai.Chunk
		if err := json.Unmarshal(e.Data, &c); err != nil {
			t.Fatal(err)
		}
		if c.Usage != nil {
			t.Error("got usage without include_usage")
		}
		if content := c.Choices[0].Delta.Content; content != nil && *content != "" {
			text += *content
			waittest.Send(t, "the runner continues", goOn, true)
		}
		if f := c.Choices[0].FinishReason; f != nil {
			finish = *f
		}
	}
	if text != "abc" || finish != "length" {
		t.Errorf("text %q, finish %q", text, finish)
	}
	if _, err := d.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after [DONE]: %v", err)
	}
}

func TestStreamShowsTheQueue(t *testing.T) {
	w := newWorld(t, nil)
	goOn := make(chan bool)
	startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		s.queued(3, 90*time.Second)
		await(ctx, goOn)
		s.queued(1, 0)
		await(ctx, goOn)
		s.started()
		await(ctx, goOn)
		s.text("x")
		s.end("stop", 1, 1)
	})
	response := w.open(waittest.Context(t), chatBody(streaming))
	d := openai.NewDecoder(response.Body, 1<<16)
	awaited := []string{"queued position=3 wait=90s", "queued position=1", "started"}
	again := 0
	d.Comment = func(text string) {
		if len(awaited) > 0 && text == awaited[0] {
			if again++; again == 2 { // once as a change, once as a keep-alive
				awaited, again = awaited[1:], 0
				waittest.Send(t, "the runner continues", goOn, true)
			}
		}
	}
	var events []string
	for {
		e, err := d.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, string(e.Data))
	}
	if len(awaited) > 0 || len(events) != 4 || events[3] != openai.Done {
		t.Errorf("missed %q, got events %q", awaited, events)
	}
}
