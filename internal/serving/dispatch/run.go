package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// lead leads until ctx ends, the lease is lost or the session is idle, and returns
// the cause.
func lead(ctx context.Context, p *process, s *session, t *heldLease) error {
	ctx, cancel := context.WithCancel(ctx)
	term := &term{process: p, session: s.name, log: p.cfg.Logger.With("session", s.name, "epoch", t.lease.Epoch), began: time.Now()}
	term.setEnd(t.until)
	l := newLeader(newLoop(ctx, term, t.lease.Epoch), s)
	l.heldLease = t
	unsubscribe, err := l.subscribe()
	if err != nil {
		cancel()
		t.release()
		return err
	}
	l.spawn(func(ctx context.Context) {
		l.requests.Backlog(ctx, s.name, queue.BacklogReader{
			Entry: func(e queue.Entry) {
				l.post(func() {
					if j := l.intake.onEntry(e); j != nil {
						l.intake.begin(j)
					}
				})
			},
			Again:   func() { l.post(l.intake.onReadAgain) },
			Current: func(connection uint64) { l.post(func() { l.intake.onReplayed(connection) }) },
		})
	})
	err = l.run(ctx)
	unsubscribe()
	cancel()
	l.goroutines.Wait()
	l.setGauges(gaugeValues{})
	if !fault.Is(err, fault.Conflict) {
		l.stream.purgeLast()
		t.release()
	}
	return err
}

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
	l.changes(true, l.roster.onRunner)
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
				l.changes(false, l.roster.onRunner)
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
			l.roster.setEpoch(l.heldLease.lease.Epoch)
		}
		now := time.Now()
		if !l.leads() {
			return fault.Errorf(fault.Transient, "the lease could not be renewed in time")
		}
		if l.nextEpoch > l.epoch {
			startRenewal()
		}
		l.ledger.expire(now)
		l.roster.schedule(now)
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

// onTick does periodic work.
func (l *leader) onTick(now time.Time) {
	l.roster.check(now)
	l.ledger.earlyCancels.forget(now.Add(-time.Minute))
	l.intake.endLost(now)
	l.ledger.endRefused(now)
	l.positions.send(now)
	l.stream.purge(now)
	l.setGauges(l.gauges())
	if len(l.ledger.jobs) > 0 || len(l.peers.byName) > 0 || l.hasRunners() || !l.stream.replayed {
		l.lastActive = now
		l.wanted.Store(false)
	}
	if now.Sub(l.lastActive) >= l.cfg.IdleAfter {
		l.err = errIdle
	}
}
