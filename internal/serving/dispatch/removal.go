package dispatch

import (
	"context"
	"errors"
)

// errReadAgain abandons a removal, because the stream has to be read again first.
var errReadAgain = errors.New("the connection was restored, and the stream has not been read again yet")

// purgeBelow removes all messages of the session below a sequence. It retries until
// they are removed or the leadership ends.
func (r records) purgeBelow(ctx context.Context, on, below uint64) error {
	return r.retryWhileLeading(ctx, on, func() error { return r.requests.Purge(ctx, r.session, below) })
}

// deleteMessage removes a message. It retries until it is removed or the leadership ends.
func (r records) deleteMessage(ctx context.Context, on, seq uint64) error {
	return r.retryWhileLeading(ctx, on, func() error { return r.requests.Delete(ctx, seq) })
}

// isRead reports whether the stream is still the one that was read on a connection.
func (r records) isRead(on uint64) bool {
	return r.cfg.Bus.Connected() && r.cfg.Bus.Connection() == on
}

// retryWhileLeading removes messages by sequences that were read on a connection.
func (r records) retryWhileLeading(ctx context.Context, on uint64, remove func() error) error {
	for {
		if !r.leads() {
			return errNotLeading
		}
		if !r.isRead(on) {
			return errReadAgain
		}
		err := remove()
		if err == nil || ctx.Err() != nil {
			return err
		}
		r.log.Debug("cannot remove requests that have ended yet", "error", err)
		if err := pause(ctx); err != nil {
			return err
		}
	}
}
