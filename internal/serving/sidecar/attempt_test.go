package sidecar

import (
	"log/slog"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// An attempt that was silent for too long shows that the engine hangs, unless the
// engine generates for another one. What it sent for others just before it fell
// silent for all of them does not count.
func TestHangs(t *testing.T) {
	const silence = 10 * time.Second
	for name, c := range map[string]struct {
		others []time.Duration // since the last text of each other attempt; 0: none yet
		want   bool
	}{
		"Alone":                 {nil, true},
		"OtherGenerates":        {[]time.Duration{20 * time.Millisecond}, false},
		"OtherReadsItsPrompt":   {[]time.Duration{0}, true},
		"OtherWasSilentEarlier": {[]time.Duration{silence + time.Millisecond}, true},
		"OtherWasSilentLater":   {[]time.Duration{silence - 5*time.Millisecond}, true},
		"OneOfTheOthers":        {[]time.Duration{silence - 5*time.Millisecond, time.Second}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := &runner{metrics: newMetrics(), slots: slots{all: 4, idle: make(chan struct{})}}
			begun := func(ago time.Duration) *attempt {
				now := time.Now()
				a := &attempt{ctx: t.Context(), started: now.Add(-2 * silence)}
				a.frames = newFrameLog(nil, slog.New(slog.DiscardHandler), a.assignment)
				if ago > 0 {
					a.heard.Store(now.Add(-ago).UnixNano())
				}
				r.slots.running = append(r.slots.running, a)
				return a
			}
			a := begun(silence)
			for _, ago := range c.others {
				begun(ago)
			}
			failed := queue.AttemptEnd{Error: &queue.Failure{Code: queue.CodeEngineFailed}}
			r.finish(a, failed, false, engineapi.ErrTimeout)
			if got := r.engine.hangs; got != c.want {
				t.Errorf("the engine hangs: %t, want %t", got, c.want)
			}
		})
	}
}
