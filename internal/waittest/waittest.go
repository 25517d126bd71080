// Package waittest lets tests wait for what must come. A wait without an end
// would not fail one test but hang its whole package, and tell nobody why.
package waittest

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// Patience is how long a test waits for anything. It is no measure of speed:
// the machine may be busy, and it is never waited for in full when all is well.
const Patience = 2 * time.Minute

// pollEvery is how often Until looks again.
const pollEvery = 2 * time.Millisecond

// Receive returns what comes from a channel, the zero value if it is closed. It
// fails the test, saying what was waited for, if nothing comes within Patience.
// Like all that can fail a test, it is for the goroutine of the test alone.
func Receive[T any](tb testing.TB, what string, from <-chan T) T {
	tb.Helper()
	late := time.NewTimer(Patience)
	defer late.Stop()
	select {
	case v := <-from:
		return v
	case <-late.C:
		inVain(tb, what)
		panic("unreachable")
	}
}

// Send gives v to a channel. It fails the test, saying what was waited for, if
// nobody takes it within Patience.
func Send[T any](tb testing.TB, what string, to chan<- T, v T) {
	tb.Helper()
	late := time.NewTimer(Patience)
	defer late.Stop()
	select {
	case to <- v:
	case <-late.C:
		inVain(tb, what)
	}
}

// Until polls until ok reports true. It fails the test, saying what was waited
// for, if that takes longer than Patience.
func Until(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	late := time.NewTimer(Patience)
	defer late.Stop()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late.C:
			inVain(tb, what)
		}
	}
}

// Returns blocks until f has returned, such as a WaitGroup's Wait. It fails the
// test, saying what was waited for, if that takes longer than Patience; f then
// goes on alone.
func Returns(tb testing.TB, what string, f func()) {
	tb.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	Receive(tb, what, done)
}

// Context ends with the test, or after Patience: it bounds what a test asks of
// others.
func Context(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), Patience)
	tb.Cleanup(cancel)
	return ctx
}

// glance is how long one look may take.
const glance = 5 * time.Second

// Glance ends with the test, or soon: it bounds one look of Until at a server
// that may be gone by the time it would answer, so that another one follows.
func Glance(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), glance)
	tb.Cleanup(cancel)
	return ctx
}

// Client is an HTTP client whose exchanges end within Patience, their bodies
// included.
func Client() *http.Client { return &http.Client{Timeout: Patience} }

func inVain(tb testing.TB, what string) {
	tb.Helper()
	tb.Fatalf("waited in vain for %v: %s", Patience, what)
}
