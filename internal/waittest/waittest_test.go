package waittest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorizond/koldun/internal/waittest"
)

// A failing test keeps what it says when it fails.
type failing struct {
	testing.TB
	said string
}

func (*failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// said is how a wait fails, "" if it does not.
func said(wait func(testing.TB)) string {
	f, done := &failing{}, make(chan struct{})
	go func() { defer close(done); wait(f) }()
	<-done
	return f.said
}

func TestWaits(t *testing.T) {
	later := func(do func()) { time.AfterFunc(waittest.Patience/2, do) }
	cases := map[string]struct {
		comes func(testing.TB)
		never func(testing.TB)
	}{
		"Receive": {
			func(tb testing.TB) {
				c := make(chan int)
				later(func() { c <- 7 })
				if got := waittest.Receive(tb, "a number", c); got != 7 {
					t.Errorf("received %d, want 7", got)
				}
				later(func() { close(c) })
				waittest.Receive(tb, "the end", c)
			},
			func(tb testing.TB) { waittest.Receive(tb, "what never comes", make(chan int)) },
		},
		"Send": {
			func(tb testing.TB) {
				c := make(chan int)
				later(func() { <-c })
				waittest.Send(tb, "somebody", c, 7)
			},
			func(tb testing.TB) { waittest.Send(tb, "what never comes", make(chan int), 7) },
		},
		"Returns": {
			func(tb testing.TB) { waittest.Returns(tb, "a pause", func() { time.Sleep(waittest.Patience / 2) }) },
			func(tb testing.TB) {
				end := make(chan bool)
				defer close(end)
				waittest.Returns(tb, "what never comes", func() { <-end })
			},
		},
		"Until": {
			func(tb testing.TB) {
				begun := time.Now()
				waittest.Until(tb, "time passes", func() bool { return time.Since(begun) >= waittest.Patience/2 })
			},
			func(tb testing.TB) { waittest.Until(tb, "what never comes", func() bool { return false }) },
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := said(c.comes); got != "" {
					t.Errorf("it fails though it comes: %s", got)
				}
				begun := time.Now()
				if got := said(c.never); !strings.Contains(got, "what never comes") {
					t.Errorf("it says %q, want what was waited for", got)
				}
				if waited := time.Since(begun); waited != waittest.Patience {
					t.Errorf("it waits for %v, want %v", waited, waittest.Patience)
				}
			})
		})
	}
}

func TestContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		<-waittest.Context(t).Done()
		if waited := time.Since(begun); waited != waittest.Patience {
			t.Errorf("it lasts for %v, want %v", waited, waittest.Patience)
		}
	})
}
