package dispatch

import (
	"context"
	"errors"
	"time"
)

// lastPurgeTimeout limits the last purge of a leader that releases its session.
const lastPurgeTimeout = time.Second

// errReadAgain abandons a removal, because the stream has to be read again first.
var errReadAgain = errors.New("the connection was restored, and the stream has not been read again yet")

// purge removes the messages of ended requests. The next leader handles those that
// remain.
func (l *leader) purge(now time.Time) {
	if !l.isRead(l.readOn) {
		return
	}
	on := l.readOn
	below, single := l.purger.plan(now, false)
	if below > 0 {
		l.do(func(ctx context.Context) error { return l.purgeBelow(ctx, on, below) }, nil)
	}
	for _, seq := range single {
		l.do(func(ctx context.Context) error { return l.deleteMessage(ctx, on, seq) }, nil)
	}
}

// purgeLast removes as many messages as possible when the leadership ends.
func (l *leader) purgeLast() {
	ctx, cancel := context.WithTimeout(context.Background(), lastPurgeTimeout)
	defer cancel()
	if !l.isRead(l.readOn) {
		return
	}
	below, single := l.purger.plan(time.Now(), true)
	if below > 0 && l.purgeBelow(ctx, l.readOn, below) != nil {
		return
	}
	for _, seq := range single {
		if l.deleteMessage(ctx, l.readOn, seq) != nil {
			return
		}
	}
}

// purgeBelow removes all messages of the session below a sequence. It retries until
// they are removed or the leadership ends.
func (l *leader) purgeBelow(ctx context.Context, on, below uint64) error {
	return l.retryWhileLeading(ctx, on, func() error { return l.requests.Purge(ctx, l.name, below) })
}

// deleteMessage removes a message. It retries until it is removed or the leadership ends.
func (l *leader) deleteMessage(ctx context.Context, on, seq uint64) error {
	return l.retryWhileLeading(ctx, on, func() error { return l.requests.Delete(ctx, seq) })
}

// isRead reports whether the stream is still the one that was read on a connection.
func (l *leader) isRead(on uint64) bool {
	return l.cfg.Bus.Connected() && l.cfg.Bus.Connection() == on
}

// retryWhileLeading removes messages by sequences that were read on a connection.
func (l *leader) retryWhileLeading(ctx context.Context, on uint64, remove func() error) error {
	for {
		if !l.leads() {
			return errNotLeading
		}
		if !l.isRead(on) {
			return errReadAgain
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
