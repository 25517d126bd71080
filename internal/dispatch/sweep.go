package dispatch

import (
	"context"
	"time"
)

// lastSweep limits the last sweep of a leader that releases its session.
const lastSweep = time.Second

// sweep removes the messages of ended requests. The next leader handles those that
// remain.
func (l *leader) sweep(now time.Time) {
	below, lone := l.litter.plan(now, false)
	if below > 0 {
		l.do(func(ctx context.Context) error { return l.sweepBelow(ctx, below) }, nil)
	}
	for _, seq := range lone {
		l.do(func(ctx context.Context) error { return l.deleteMessage(ctx, seq) }, nil)
	}
}

// sweepLast removes as many messages as possible at the end of a lead.
func (l *leader) sweepLast() {
	ctx, cancel := context.WithTimeout(context.Background(), lastSweep)
	defer cancel()
	below, lone := l.litter.plan(time.Now(), true)
	if below > 0 && l.sweepBelow(ctx, below) != nil {
		return
	}
	for _, seq := range lone {
		if l.deleteMessage(ctx, seq) != nil {
			return
		}
	}
}

// sweepBelow removes all messages of the session below a sequence. It retries until
// they are removed or the lead ends.
func (l *leader) sweepBelow(ctx context.Context, below uint64) error {
	return l.insist(ctx, func() error { return l.m.requests.Purge(ctx, l.name, below) })
}

// deleteMessage removes a message. It retries until it is removed or the lead ends.
func (l *leader) deleteMessage(ctx context.Context, seq uint64) error {
	return l.insist(ctx, func() error { return l.m.requests.Delete(ctx, seq) })
}

func (l *leader) insist(ctx context.Context, remove func() error) error {
	for {
		if !l.leads() {
			return errOver
		}
		err := remove()
		if err == nil || ctx.Err() != nil {
			return err
		}
		l.log.Debug("cannot remove requests that have ended yet", "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(tickEvery):
		}
	}
}
