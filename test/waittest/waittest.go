// Package waittest has waits with a deadline for tests. A wait without a deadline
// would hang its whole package without a reason instead of failing one test. All
// deadlines grow with the slowness of the machine: see [Limit].
package waittest

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// pollEvery is the interval of Until.
const pollEvery = 2 * time.Millisecond

// Receive returns a value from a channel, or the zero value if it is closed. It
// fails the test and names what it waited for if nothing arrives within
// Patience. Call it only from the goroutine of the test.
func Receive[T any](tb testing.TB, what string, from <-chan T) T {
	tb.Helper()
	late := time.NewTimer(Patience)
	defer late.Stop()
	select {
	case v := <-from:
		return v
	case <-late.C:
		timedOut(tb, what)
		panic("unreachable")
	}
}

// Send sends v to a channel. It fails the test and names what it waited for if
// there is no receiver within Patience.
func Send[T any](tb testing.TB, what string, to chan<- T, v T) {
	tb.Helper()
	late := time.NewTimer(Patience)
	defer late.Stop()
	select {
	case to <- v:
	case <-late.C:
		timedOut(tb, what)
	}
}

// Until polls until ok returns true. It fails the test and names what it waited
// for if that takes longer than Patience.
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
			timedOut(tb, what)
		}
	}
}

// Returns blocks until f, such as a WaitGroup's Wait, has returned. It fails the
// test and names what it waited for if that takes longer than Patience; f then
// continues in its goroutine.
func Returns(tb testing.TB, what string, f func()) {
	tb.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	Receive(tb, what, done)
}

// Context returns a context that ends with the test or after Patience.
func Context(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), Patience)
	tb.Cleanup(cancel)
	return ctx
}

// attempt bounds one poll.
var attempt = Limit(5 * time.Second)

// Attempt returns a context for one poll of Until. It ends early, so that Until
// polls again if the server does not answer.
func Attempt(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), attempt)
	tb.Cleanup(cancel)
	return ctx
}

// Client returns an HTTP client whose requests end within Patience, including
// their bodies.
func Client() *http.Client { return &http.Client{Timeout: Patience} }

func timedOut(tb testing.TB, what string) {
	tb.Helper()
	tb.Fatalf("timed out after %v waiting for: %s", Patience, what)
}
