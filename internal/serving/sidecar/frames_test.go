package sidecar

import (
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

// TestStartWaitsForText tests that a frame of addSoon is published before the next
// frame, or alone if there is none.
func TestStartWaitsForText(t *testing.T) {
	srv := natstest.Start(t)
	b, err := bus.Connect(t.Context(), bus.Config{URL: srv.URL(), User: natstest.User, Password: natstest.Password})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	started, text := queue.Frame{Kind: queue.FrameStarted}, queue.Frame{Kind: queue.FrameDelta, Text: "hello"}
	cases := map[string]struct {
		write func(l *frameLog)
		want  []queue.Frame
	}{
		"Alone":    {func(l *frameLog) { l.addSoon(started) }, []queue.Frame{started}},
		"WithText": {func(l *frameLog) { l.addSoon(started); l.addPiece("hello", nil) }, []queue.Frame{started, text}},
		"WithEnd": {
			func(l *frameLog) { l.addSoon(started); l.add(queue.Frame{Kind: queue.FrameEnd}) },
			[]queue.Frame{started, {Kind: queue.FrameEnd}},
		},
		"InOrder": {func(l *frameLog) {
			call := func(arguments string) *openai.Parts {
				return &openai.Parts{ToolCalls: []openai.ToolCall{{Function: openai.ToolFunction{Arguments: arguments}}}}
			}
			l.addPiece("", &openai.Parts{Reasoning: "Hm"})
			l.addPiece("a", nil)
			l.addPiece("b", call("1"))
			l.addPiece("", call("2"))
			l.addPiece("c", nil)
			l.addPiece("", &openai.Parts{Reasoning: "Oh"})
			l.add(queue.Frame{Kind: queue.FrameEnd})
		}, []queue.Frame{
			{Kind: queue.FrameDelta, Raw: json.RawMessage(`{"reasoning":"Hm"}`)},
			{Kind: queue.FrameDelta, Text: "ab", Raw: json.RawMessage(`{"tool_calls":[{"index":0,"function":{"arguments":"12"}}]}`)},
			{Kind: queue.FrameDelta, Text: "c"},
			{Kind: queue.FrameDelta, Raw: json.RawMessage(`{"reasoning":"Oh"}`)},
			{Kind: queue.FrameEnd},
		}},
		"Released": {func(l *frameLog) { l.addSoon(started); l.release() }, []queue.Frame{started}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			req := queue.Request{ID: "req_" + name, Session: "s", Tenant: "t"}
			frames, err := queue.New(b).SubscribeFrames(req.Ref())
			if err != nil {
				t.Fatal(err)
			}
			defer frames.Close()
			l := newFrameLog(queue.New(b), slog.New(slog.DiscardHandler), queue.Assignment{Request: req, Epoch: 1, Attempt: 1})
			c.write(l)
			for seq, want := range c.want {
				got, err := frames.Next(waittest.Context(t))
				if err != nil {
					t.Fatal(err)
				}
				want.Request, want.Epoch, want.Attempt, want.Seq = req.ID, 1, 1, seq
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("frame %d (-want +got):\n%s", seq, diff)
				}
			}
		})
	}
}
