// Package wait waits for outside things to become ready.
package wait

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"
)

// A State is how far a thing is.
type State struct {
	Ready bool
	// Final says that waiting longer cannot help.
	Final   bool
	Reason  string // CamelCase, or ""
	Message string
}

const (
	first   = 100 * time.Millisecond
	longest = 10 * time.Second
)

// Until looks again and again, with growing pauses, until the thing is ready
// or cannot become so, and returns what it saw last. It ends with ctx, with
// the last state and no error: what is not ready yet is no failure. With once,
// the first look is the last. Each new reason is logged.
func Until(ctx context.Context, look func(context.Context) (State, error), once bool) (State, error) {
	var last State
	for pause := first; ; pause = min(pause*3/2, longest) {
		s, err := look(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return last, nil //nolint:nilerr // the look was cut short by the end of the wait
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
		// Jitter, so that many resources do not ask at the same moment.
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
