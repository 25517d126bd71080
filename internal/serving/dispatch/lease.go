package dispatch

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/names"
)

// A lease is the record of a leader in names.LeasesBucket.
type lease struct {
	Leader   string `json:"leader"`
	Instance string `json:"instance"`
	// Epoch fences: it is larger than that of every earlier leader. It starts at
	// the time in microseconds, so that it grows even if the bucket was lost;
	// see loop.newerEpoch for wrong clocks.
	Epoch uint64 `json:"epoch"`
}

// An observedLease is the last state of a lease in the watch.
type observedLease struct {
	lease    lease
	revision uint64
	at       time.Time
}

// left returns how long others must wait until they may take the lease unless it
// is renewed. It is at most the TTL, and not above 0 if they may take it now.
func (s observedLease) left(ttl time.Duration, now time.Time) time.Duration {
	return s.at.Add(ttl).Sub(now)
}

// retryAfter returns the pause after a failed or lost attempt to take a lease.
func retryAfter(ttl time.Duration) time.Duration { return ttl / 10 }

// renewEvery returns the interval of renewals, of which two may fail.
func renewEvery(ttl time.Duration) time.Duration { return ttl / 3 }

// leaseMargin is the time between the end of a leader and a takeover.
const leaseMargin = 500 * time.Millisecond

// A heldLease is a lease that this process holds. One goroutine owns it.
type heldLease struct {
	*process
	session  string
	lease    lease
	revision uint64
	until    time.Time // local time until which no other process leads
}

// acquire takes a lease that is free or has not been renewed for its TTL, with an epoch after
// the given one. Errors: Conflict if another process was faster.
func (p *process) acquire(ctx context.Context, session string, after uint64, old *observedLease) (*heldLease, error) {
	t := &heldLease{process: p, session: session, lease: lease{Leader: p.cfg.Identity, Instance: p.instance}}
	ctx, cancel := context.WithTimeout(ctx, p.cfg.LeaseTTL)
	defer cancel()
	began := time.Now()
	t.lease.Epoch = max(uint64(began.UnixMicro()), after+1)
	var err error
	if old == nil {
		t.revision, err = p.cfg.Bus.Create(ctx, names.LeasesBucket, session, t.lease, p.cfg.LeaseTTL)
	} else {
		t.lease.Epoch = max(t.lease.Epoch, old.lease.Epoch+1)
		t.revision, err = p.cfg.Bus.Update(ctx, names.LeasesBucket, session, t.lease, old.revision, p.cfg.LeaseTTL)
	}
	if err != nil {
		return nil, err
	}
	t.until = began.Add(p.cfg.LeaseTTL - leaseMargin)
	return t, nil
}

// A renewal is the result of an renewal.
type renewal struct {
	lease    lease
	revision uint64
	until    time.Time
	err      error // Conflict: the lease is lost
}

// renew returns a function that renews the lease for another TTL, with at least the
// given epoch. It does not change t; see apply.
func (t *heldLease) renew(epoch uint64) func(context.Context) renewal {
	next := renewal{lease: t.lease, until: time.Now().Add(t.cfg.LeaseTTL - leaseMargin)}
	next.lease.Epoch = max(t.lease.Epoch, epoch)
	revision, deadline := t.revision, t.until
	return func(ctx context.Context) renewal {
		ctx, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		next.revision, next.err = t.cfg.Bus.Update(ctx, names.LeasesBucket, t.session, next.lease, revision, t.cfg.LeaseTTL)
		return next
	}
}

// apply applies the result of a renewal.
func (t *heldLease) apply(r renewal) {
	if r.err == nil {
		t.lease, t.revision, t.until = r.lease, r.revision, r.until
	}
}

// release deletes the lease, if it is still held, so that others can lead at once.
func (t *heldLease) release() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := t.cfg.Bus.Delete(ctx, names.LeasesBucket, t.session, t.revision); err != nil {
		t.cfg.Logger.Debug("cannot release a lease; it will expire", "session", t.session, "error", err)
	}
}
