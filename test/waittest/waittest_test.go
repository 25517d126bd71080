package waittest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorizond/koldun/test/waittest"
)

// A recorder records the message of a failure.
type recorder struct {
	testing.TB
	message string
}

func (*recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failure returns the message with which a wait fails, or "" if it does not.
func failure(wait func(testing.TB)) string {
	r, done := &recorder{}, make(chan struct{})
	go func() { defer close(done); wait(r) }()
	<-done
	return r.message
}

func TestWaits(t *testing.T) {
	later := func(do func()) { time.AfterFunc(waittest.Patience/2, do) }
	cases := map[string]struct {
		inTime func(testing.TB)
		never  func(testing.TB)
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
				waittest.Send(tb, "a receiver", c, 7)
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
				if got := failure(c.inTime); got != "" {
					t.Errorf("fails although the event happens: %s", got)
				}
				begun := time.Now()
				if got := failure(c.never); !strings.Contains(got, "what never comes") {
					t.Errorf("message %q does not name the event", got)
				}
				if waited := time.Since(begun); waited != waittest.Patience {
					t.Errorf("waits for %v, want %v", waited, waittest.Patience)
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
			t.Errorf("lasts for %v, want %v", waited, waittest.Patience)
		}
	})
}
