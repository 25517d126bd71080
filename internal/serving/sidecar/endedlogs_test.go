package sidecar

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
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
			var all, dropped []*frameLog
			now := time.Now()
			for range c.logs {
				l := &frameLog{bytes: c.text, frames: []queue.Frame{{Text: strings.Repeat("x", min(c.text, 1))}}}
				all = append(all, l)
				dropped = append(dropped, p.add(l, now)...)
				now = now.Add(c.every)
			}
			if len(p.kept) != c.kept {
				t.Errorf("%d logs are stored, want %d", len(p.kept), c.kept)
			}
			if !slices.Equal(dropped, all[:c.logs-c.kept]) {
				t.Errorf("%d logs were dropped, want the %d oldest in their order", len(dropped), c.logs-c.kept)
			}
			bytes := 0
			for _, k := range p.kept {
				bytes += k.log.size()
			}
			if p.bytes != bytes {
				t.Errorf("%d bytes are counted, want %d", p.bytes, bytes)
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
