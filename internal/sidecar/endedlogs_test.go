package sidecar

import (
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/queue"
)

func TestEndedLogs(t *testing.T) {
	const often = 5 * time.Millisecond // interval of an engine that answers at once
	cases := map[string]struct {
		logs  int
		every time.Duration
		text  int // bytes of each
		kept  int
	}{
		"Few":          {logs: 10, every: often, kept: 10},
		"Fast":         {logs: 1000, every: often, kept: 1000},
		"TooFast":      {logs: maxEndedLogs + 10, every: often, kept: maxEndedLogs},
		"Slow":         {logs: 100, every: time.Hour, kept: minEndedLogs},
		"Old":          {logs: 100, every: time.Second, kept: 61},
		"Large":        {logs: 10, every: often, text: 2 << 20, kept: 3},
		"TooLargeEach": {logs: 3, every: often, text: 2 * maxEndedBytes, kept: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var p endedLogs
			serving := map[int]bool{}
			now := time.Now()
			for i := range c.logs {
				serving[i] = true
				l := &frameLog{
					bytes: c.text, frames: []queue.Frame{{Text: strings.Repeat("x", min(c.text, 1))}},
					stop: func() { delete(serving, i) },
				}
				p.add(l, now)
				now = now.Add(c.every)
			}
			if len(p.kept) != c.kept || len(serving) != c.kept {
				t.Errorf("%d logs are stored and %d serve, want %d", len(p.kept), len(serving), c.kept)
			}
			for i := c.logs - c.kept; i < c.logs; i++ {
				if !serving[i] {
					t.Fatalf("log %d was dropped before an older one", i)
				}
			}
			if p.clear(); len(serving) != 0 || p.bytes != 0 {
				t.Errorf("after clear, %d logs serve, and %d bytes are counted", len(serving), p.bytes)
			}
		})
	}
}

// Frame logs do not contain prompts, which may be large.
func TestFrameLogDropsThePrompt(t *testing.T) {
	as := queue.Assignment{Request: queue.Request{ID: "req_1", Body: []byte(`{"messages":[]}`)}}
	if l := newFrameLog(nil, nil, as); l.as.Request.Body != nil {
		t.Error("the log contains the prompt")
	}
	if as.Request.Body == nil {
		t.Error("the attempt has lost its prompt")
	}
}
