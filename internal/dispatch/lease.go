package dispatch

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/names"
)

// A lease is what a leader writes into names.LeasesBucket.
type lease struct {
	Leader   string `json:"leader"`
	Instance string `json:"instance"`
	// Epoch fences: it is larger than that of every leader before. It begins
	// at the time in microseconds, so that it grows even when the bucket and
	// all memory of earlier ones were lost; see leader.challenged for clocks
	// that go wrong.
	Epoch uint64 `json:"epoch"`
}

// A seenLease is a lease as the watch has seen it last.
type seenLease struct {
	lease    lease
	revision uint64
	at       time.Time
}

// left is how long others have to wait until they may take the lease, unless
// it is renewed; not above 0 if they may now. It is never more than the TTL.
func (s seenLease) left(ttl time.Duration, now time.Time) time.Duration {
	return s.at.Add(ttl).Sub(now)
}

// retryAfter is how long to wait after an attempt to take a lease that somebody
// else was faster at, or that failed.
func retryAfter(ttl time.Duration) time.Duration { return ttl / 10 }

// renewEvery is how often a leader renews its lease: it may fail twice.
func renewEvery(ttl time.Duration) time.Duration { return ttl / 3 }

// leaseMargin is how much sooner a leader gives up than others take over.
const leaseMargin = 500 * time.Millisecond

// A tenure is a lease that this process holds. It belongs to one goroutine.
type tenure struct {
	m        *manager
	session  string
	lease    lease
	revision uint64
	until    time.Time // by the local clock: nobody else leads before
}

// acquire takes a lease that is free, or one that was not renewed for its TTL.
// Errors: Conflict if somebody else was faster.
func (m *manager) acquire(ctx context.Context, session string, old *seenLease) (*tenure, error) {
	t := &tenure{m: m, session: session, lease: lease{Leader: m.cfg.Identity, Instance: m.instance}}
	ctx, cancel := context.WithTimeout(ctx, m.cfg.LeaseTTL)
	defer cancel()
	began := time.Now()
	t.lease.Epoch = max(uint64(began.UnixMicro()), m.lastEpoch(session)+1)
	var err error
	if old == nil {
		t.revision, err = m.cfg.Bus.Create(ctx, names.LeasesBucket, session, t.lease, m.cfg.LeaseTTL)
	} else {
		t.lease.Epoch = max(t.lease.Epoch, old.lease.Epoch+1)
		t.revision, err = m.cfg.Bus.Update(ctx, names.LeasesBucket, session, t.lease, old.revision, m.cfg.LeaseTTL)
	}
	if err != nil {
		return nil, err
	}
	t.until = began.Add(m.cfg.LeaseTTL - leaseMargin)
	return t, nil
}

// lasts reports whether nobody else can lead before until. A process that was
// stopped finds out by the monotonic clock, and one whose machine slept by the
// wall clock.
func lasts(until, now time.Time) bool {
	return now.Before(until) && now.Round(0).Before(until.Round(0))
}

// A renewal is what an attempt to renew a tenure has come to.
type renewal struct {
	lease    lease
	revision uint64
	until    time.Time
	err      error // Conflict: the lease is lost
}

// renew returns what tries to hold the lease for another TTL, with an epoch of at least
// that given. It changes nothing in t; see apply.
func (t *tenure) renew(epoch uint64) func(context.Context) renewal {
	next := renewal{lease: t.lease, until: time.Now().Add(t.m.cfg.LeaseTTL - leaseMargin)}
	next.lease.Epoch = max(t.lease.Epoch, epoch)
	revision, deadline := t.revision, t.until
	return func(ctx context.Context) renewal {
		ctx, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		next.revision, next.err = t.m.cfg.Bus.Update(ctx, names.LeasesBucket, t.session, next.lease, revision, t.m.cfg.LeaseTTL)
		return next
	}
}

// apply takes over what a renewal has come to.
func (t *tenure) apply(r renewal) {
	if r.err == nil {
		t.lease, t.revision, t.until = r.lease, r.revision, r.until
	}
}

// release lets others lead at once. A lease that is lost already is no matter.
func (t *tenure) release() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := t.m.cfg.Bus.Delete(ctx, names.LeasesBucket, t.session, t.revision); err != nil {
		t.m.cfg.Logger.Debug("cannot release a lease; it will expire", "session", t.session, "error", err)
	}
}
