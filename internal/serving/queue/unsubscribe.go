package queue

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// unsubscribeAfter limits how long a subscription outlives its use.
const unsubscribeAfter = 100 * time.Millisecond

// An unsubscriber ends subscriptions in batches. A single Unsubscribe would wake
// the server; with the next Subscribe they are one write.
type unsubscriber struct {
	mu    sync.Mutex // guards the fields below
	subs  []*nats.Subscription
	timer *time.Timer // runs while there are any
}

// add ends a subscription within unsubscribeAfter.
func (u *unsubscriber) add(s *nats.Subscription) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.subs = append(u.subs, s)
	switch {
	case len(u.subs) > 1:
	case u.timer == nil:
		u.timer = time.AfterFunc(unsubscribeAfter, u.flush)
	default:
		u.timer.Reset(unsubscribeAfter)
	}
}

// flush ends the subscriptions now.
func (u *unsubscriber) flush() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.subs) == 0 {
		return
	}
	u.timer.Stop()
	for _, s := range u.subs {
		_ = s.Unsubscribe() // it fails only if the connection is closed
	}
	clear(u.subs)
	u.subs = u.subs[:0]
}
