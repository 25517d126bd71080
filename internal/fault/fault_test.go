package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
)

func TestKindOf(t *testing.T) {
	boom := errors.New("boom")
	cases := map[string]struct {
		err  error
		want fault.Kind
		exit int
	}{
		"Nil":              {nil, "", 0},
		"Plain":            {boom, fault.Internal, 1},
		"Cancelled":        {fmt.Errorf("x: %w", context.Canceled), fault.Interrupted, 130},
		"Deadline":         {context.DeadlineExceeded, fault.Transient, 75},
		"Wrapped":          {fmt.Errorf("outer: %w", fault.As(fault.Denied, boom)), fault.Denied, 11},
		"OutermostWins":    {fault.As(fault.Corrupt, fault.As(fault.NotFound, boom)), fault.Corrupt, 14},
		"Formatted":        {fault.Errorf(fault.Invalid, "cannot read %q: %w", "a", boom), fault.Invalid, 10},
		"KindOverCanceled": {fault.As(fault.Quota, context.Canceled), fault.Quota, 13},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := fault.KindOf(c.err); got != c.want {
				t.Errorf("KindOf(%v) = %q, want %q", c.err, got, c.want)
			}
			if got := fault.ExitCode(c.err); got != c.exit {
				t.Errorf("ExitCode(%v) = %d, want %d", c.err, got, c.exit)
			}
		})
	}
	if err := fault.As(fault.Denied, nil); err != nil {
		t.Errorf("As(Denied, nil) = %v, want nil", err)
	}
	if !errors.Is(fault.As(fault.Denied, boom), boom) {
		t.Error("a kind hides its cause")
	}
}

func TestUnlessStopped(t *testing.T) {
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithTimeout(t.Context(), 0)
	defer cancelLate()
	for name, c := range map[string]struct {
		ctx  context.Context
		want error
	}{
		"Stopped": {stopped, nil}, "Late": {late, io.EOF}, "Running": {t.Context(), io.EOF},
	} {
		if got := fault.UnlessStopped(c.ctx, io.EOF); !errors.Is(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
