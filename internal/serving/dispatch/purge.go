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
	if !l.records.isRead(l.readOn) {
		return
	}
	on := l.readOn
	below, single := l.purger.plan(now, false)
	if below > 0 {
		l.do(func(ctx context.Context) error { return l.records.purgeBelow(ctx, on, below) }, nil)
	}
	for _, seq := range single {
		l.do(func(ctx context.Context) error { return l.records.deleteMessage(ctx, on, seq) }, nil)
	}
}

// purgeLast removes as many messages as possible when the leadership ends.
func (l *leader) purgeLast() {
	ctx, cancel := context.WithTimeout(context.Background(), lastPurgeTimeout)
	defer cancel()
	if !l.records.isRead(l.readOn) {
		return
	}
	below, single := l.purger.plan(time.Now(), true)
	if below > 0 && l.records.purgeBelow(ctx, l.readOn, below) != nil {
		return
	}
	for _, seq := range single {
		if l.records.deleteMessage(ctx, l.readOn, seq) != nil {
			return
		}
	}
}
