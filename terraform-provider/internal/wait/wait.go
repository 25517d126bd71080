// Package wait polls objects until they are ready, and holds the attribute
// "wait", which says what to do until then.
package wait

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"
)

// A State is what one look at an object found.
type State struct {
	Ready bool
	// Final reports that the object cannot become ready without a change.
	Final   bool
	Reason  string // CamelCase, or ""
	Message string
}

const (
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
)

// Poll calls observe with growing pauses until the state is ready or final, and
// returns the last state. When ctx ends, Poll returns the last state and no
// error, because an object that is not ready yet is no failure. With once, Poll
// calls observe only once. It logs each change of the reason or message.
func Poll(ctx context.Context, observe func(context.Context) (State, error), once bool) (State, error) {
	var last State
	for pause := firstPause; ; pause = min(pause*3/2, longestPause) {
		s, err := observe(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return last, nil //nolint:nilerr // the end of the wait interrupted observe
			}
			return last, err
		}
		if s.Reason != last.Reason || s.Message != last.Message {
			tflog.Info(ctx, "waiting", map[string]any{"reason": s.Reason, "message": s.Message, "ready": s.Ready})
		}
		last = s
		if s.Ready || s.Final || once {
			return last, nil
		}
		// Jitter keeps many resources from polling at the same moment.
		t := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
			t.Stop()
			return last, nil
		case <-t.C:
		}
	}
}

// Text is the reason and the message in one line.
func (s State) Text() string {
	if s.Reason != "" && s.Message != "" {
		return s.Reason + ": " + s.Message
	}
	return s.Reason + s.Message
}
