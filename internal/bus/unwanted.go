package bus

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// unwantedFor is how long a subscription that nobody needs may stay.
const unwantedFor = 100 * time.Millisecond

// unwanted are subscriptions to be ended. Told alone, the end of each would wake
// the server; told before the next subscription is made, it goes along with that.
type unwanted struct {
	mu    sync.Mutex // guards the fields below
	subs  []*nats.Subscription
	timer *time.Timer // runs while there are any
}

// add has a subscription ended soon.
func (u *unwanted) add(s *nats.Subscription) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.subs = append(u.subs, s)
	switch {
	case len(u.subs) > 1:
	case u.timer == nil:
		u.timer = time.AfterFunc(unwantedFor, u.end)
	default:
		u.timer.Reset(unwantedFor)
	}
}

// end ends them now.
func (u *unwanted) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.subs) == 0 {
		return
	}
	u.timer.Stop()
	for _, s := range u.subs {
		_ = s.Unsubscribe() // what fails has ended with its connection
	}
	clear(u.subs)
	u.subs = u.subs[:0]
}
