package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// post has f called by the leader's goroutine, soon, unless the lead ends.
func (l *leader) post(f func()) {
	select {
	case l.inbox <- f:
	case <-l.over:
	}
}

// do calls work in a goroutine of its own, one of maxParallel, and then done
// in the leader's.
func (l *leader) do(work func(ctx context.Context) error, done func(err error)) {
	l.spawn(func(ctx context.Context) {
		select {
		case l.slots <- struct{}{}:
			defer func() { <-l.slots }()
		case <-ctx.Done():
			return
		}
		err := work(ctx)
		if done != nil && ctx.Err() == nil {
			l.post(func() { done(err) })
		}
	})
}

// call is do for questions to runners, of which each is asked one at a time.
func (l *leader) call(work func(ctx context.Context) error, done func(err error)) {
	l.spawn(func(ctx context.Context) {
		err := work(ctx)
		l.post(func() { done(err) })
	})
}

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
		renew := l.tenure.renew(l.challenge)
		l.spawn(func(ctx context.Context) { renewed <- renew(ctx) })
	}
	l.changes(true, l.onRunner)
	for l.err == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case f := <-l.inbox:
			// What has come while this process was stopped is another's now.
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
			l.tenure.apply(r)
			until := l.tenure.until
			l.until.Store(&until)
			l.setEpoch(l.tenure.lease.Epoch)
		}
		now := time.Now()
		if !l.leads() {
			return fault.Errorf(fault.Transient, "the lease could not be renewed in time")
		}
		if l.challenge > l.epoch {
			startRenewal()
		}
		l.expire(now)
		l.schedule(now)
		if at := l.queue.Wake(); !at.IsZero() {
			wake.Reset(max(time.Until(at), time.Millisecond))
		}
	}
	return l.err
}

// leads reports whether nobody else can lead yet. It may be called from any
// goroutine.
func (l *leader) leads() bool { return lasts(*l.until.Load(), time.Now()) }

// drainInbox handles what else has come before looking at the queue again.
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
