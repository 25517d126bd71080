package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// run calls what arrives until the leadership ends, and returns the cause.
func (l *leader) run(ctx context.Context) error {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	wake := time.NewTimer(0)
	defer wake.Stop()
	renew := time.NewTicker(renewEvery(l.cfg.LeaseTTL))
	defer renew.Stop()
	renewed := make(chan renewal, 1)
	renewing := false
	startRenewal := func() {
		if renewing {
			return
		}
		renewing = true
		renew := l.heldLease.renew(l.nextEpoch)
		l.spawn(func(ctx context.Context) { renewed <- renew(ctx) })
	}
	l.changes(true, l.onRunner)
	for l.err == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case f := <-l.inbox:
			// Messages that arrived while this process was suspended belong to
			// another leader now.
			if l.leads() {
				f()
				l.drainInbox()
			}
		case <-l.news:
			if l.leads() {
				l.changes(false, l.onRunner)
			}
		case <-tick.C:
			if l.leads() {
				l.onTick(time.Now())
			}
		case <-wake.C:
		case <-renew.C:
			startRenewal()
		case r := <-renewed:
			renewing = false
			if fault.Is(r.err, fault.Conflict) {
				return fmt.Errorf("the lease was taken: %w", r.err)
			}
			l.heldLease.apply(r)
			l.setEnd(l.heldLease.until)
			l.setEpoch(l.heldLease.lease.Epoch)
		}
		now := time.Now()
		if !l.leads() {
			return fault.Errorf(fault.Transient, "the lease could not be renewed in time")
		}
		if l.nextEpoch > l.epoch {
			startRenewal()
		}
		l.ledger.expire(now)
		l.schedule(now)
		if at := l.ledger.queue.Wake(); !at.IsZero() {
			wake.Reset(max(time.Until(at), time.Millisecond))
		}
	}
	return l.err
}

// drainInbox handles all waiting calls before the next scheduling.
func (l *leader) drainInbox() {
	for range inboxSize {
		if !l.leads() {
			return
		}
		select {
		case f := <-l.inbox:
			f()
		default:
			return
		}
	}
}
