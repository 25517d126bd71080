package dispatch

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// tickEvery is the pace of periodic work and of the retries of an operation.
const tickEvery = 250 * time.Millisecond

// A term is the time in which this process leads a session. Any goroutine may use it: only
// until changes.
type term struct {
	*process
	session string // its name
	log     *slog.Logger
	began   time.Time
	until   atomic.Pointer[time.Time] // end of the lease
}

// errNotLeading aborts the operations of a leader whose leadership has ended. The next leader
// decides.
var errNotLeading = fault.Errorf(fault.Interrupted, "this dispatcher no longer leads the session")

// setEnd sets the end of the lease.
func (t *term) setEnd(end time.Time) { t.until.Store(&end) }

// leads reports whether no other process can lead yet.
func (t *term) leads() bool { return lasts(*t.until.Load(), time.Now()) }

// lasts reports whether until is in the future. The monotonic clock detects a
// suspended process, and the wall clock a suspended machine.
func lasts(until, now time.Time) bool {
	return now.Before(until) && now.Round(0).Before(until.Round(0))
}

// sendCancel makes the runner that holds a request drop it.
func (t *term) sendCancel(request, tenant, reason string) {
	order := queue.CancelOrder{Tenant: tenant, Reason: reason}
	if err := t.cfg.Bus.Send(names.CancelSubject(t.session, request), order); err != nil {
		t.log.Warn("cannot cancel an attempt", "request", request, "error", err)
	}
}

// pause waits before an operation is tried again. It returns an error if ctx ends.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(tickEvery):
		return nil
	}
}
