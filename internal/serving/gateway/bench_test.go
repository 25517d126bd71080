package gateway

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// A memoryQueue answers requests without a bus, to measure the gateway alone.
type memoryQueue struct{ frames func() frames }

func (q memoryQueue) Follow(queue.Ref) (frames, error)                { return q.frames(), nil }
func (q memoryQueue) Publish(context.Context, queue.Request) error    { return nil }
func (q memoryQueue) Cancel(context.Context, queue.Ref, string) error { return nil }

// A scriptedAnswer sends a number of pieces of text, then the end.
type scriptedAnswer struct{ left int }

func (r *scriptedAnswer) Close()                     {}
func (r *scriptedAnswer) Ready() (queue.Frame, bool) { return queue.Frame{}, false }

func (r *scriptedAnswer) Next(context.Context) (queue.Frame, error) {
	r.left--
	if r.left < 0 {
		return queue.Frame{Kind: queue.FrameEnd, FinishReason: "stop", Usage: &queue.Usage{PromptTokens: 1, CompletionTokens: 1}}, nil
	}
	return queue.Frame{Kind: queue.FrameDelta, Text: " hello"}, nil
}

// benchWorld returns a gateway with models and an in-memory queue.
func benchWorld(b *testing.B, f func() frames) *world {
	b.Helper()
	w := newWorld(b, func(_ *Config, p *timing) { *p = defaultTiming })
	w.gateway.queue = memoryQueue{f}
	return w
}

func post(b *testing.B, url, body string) *http.Response {
	b.Helper()
	r, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil || r.StatusCode != http.StatusOK {
		b.Fatal(err, r)
	}
	return r
}

// BenchmarkChat is a whole answer without a bus, client included.
func BenchmarkChat(b *testing.B) {
	w := benchWorld(b, func() frames { return &scriptedAnswer{left: 1} })
	b.ReportAllocs()
	for b.Loop() {
		r := post(b, w.url, chatBody(""))
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
}

// BenchmarkChatOverNATS is the same with a real queue, without fsync.
func BenchmarkChatOverNATS(b *testing.B) {
	w := newWorld(b, func(_ *Config, p *timing) { *p = defaultTiming })
	startRunner(b, w.bus, tinySession, replies("hello"))
	b.ReportAllocs()
	for b.Loop() {
		r := post(b, w.url, chatBody(""))
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
}

// BenchmarkStreamedChunk is one event of a stream without a bus, client included.
func BenchmarkStreamedChunk(b *testing.B) {
	w := benchWorld(b, func() frames { return &scriptedAnswer{left: b.N} })
	b.ReportAllocs()
	b.ResetTimer()
	r := post(b, w.url, chatBody(streaming))
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
}
