package dispatch

import (
	"context"
	"time"
)

// lastPurgeTimeout limits the last purge of a leader that releases its session.
const lastPurgeTimeout = time.Second

// purge removes the messages of ended requests. The next leader handles those that
// remain.
func (l *leader) purge(now time.Time) {
	below, single := l.purger.plan(now, false)
	if below > 0 {
		l.do(func(ctx context.Context) error { return l.purgeBelow(ctx, below) }, nil)
	}
	for _, seq := range single {
		l.do(func(ctx context.Context) error { return l.deleteMessage(ctx, seq) }, nil)
	}
}

// purgeLast removes as many messages as possible when the leadership ends.
func (l *leader) purgeLast() {
	ctx, cancel := context.WithTimeout(context.Background(), lastPurgeTimeout)
	defer cancel()
	below, single := l.purger.plan(time.Now(), true)
	if below > 0 && l.purgeBelow(ctx, below) != nil {
		return
	}
	for _, seq := range single {
		if l.deleteMessage(ctx, seq) != nil {
			return
		}
	}
}

// purgeBelow removes all messages of the session below a sequence. It retries until
// they are removed or the leadership ends.
func (l *leader) purgeBelow(ctx context.Context, below uint64) error {
	return l.retryWhileLeading(ctx, func() error { return l.m.requests.Purge(ctx, l.name, below) })
}

// deleteMessage removes a message. It retries until it is removed or the leadership ends.
func (l *leader) deleteMessage(ctx context.Context, seq uint64) error {
	return l.retryWhileLeading(ctx, func() error { return l.m.requests.Delete(ctx, seq) })
}

func (l *leader) retryWhileLeading(ctx context.Context, remove func() error) error {
	for {
		if !l.leads() {
			return errNotLeading
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
