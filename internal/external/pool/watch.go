package pool

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/external/pool/autoscaler"
)

const (
	// eventDelay is the delay of a reconcile after an event, which collects further
	// events, and minInterval is the minimum interval of reconciles of a busy pool.
	eventDelay  = 50 * time.Millisecond
	minInterval = 500 * time.Millisecond
	// retryInterval is the time to the next reconcile after a failed one.
	retryInterval = 2 * time.Second
)

// Watch reconciles the pool whenever its queue or its runners change, and calls
// changed when the result of Observe changes: at once for members, otherwise with a
// limited rate. It returns nil when ctx ends. All callers share the watches of
// queue and runners. Watch calls changed from one goroutine, and changed should not
// block for long.
func (c *Client) Watch(ctx context.Context, s Spec, changed func()) error {
	p, release := c.acquire(s)
	defer release()
	news, stop := c.feed.Follow(s.Session)
	defer stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var started time.Time // of the last reconcile
	last := Status{}
	for first := true; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-news:
			if !pause(ctx, max(eventDelay, time.Until(started.Add(minInterval)))) {
				return nil
			}
		case <-timer.C:
		}
		started = time.Now()
		// A spec that was observed meanwhile replaces the one of the watch.
		if err := p.reconcileLast(ctx, c, s); err != nil {
			timer.Reset(retryInterval)
			continue
		}
		now, wake := time.Now(), p.wake()
		if status := p.report(now); first || !status.equal(last) {
			first, last = false, status
			changed()
		}
		timer.Reset(max(wake.Sub(now), time.Millisecond))
	}
}

// wake returns when to reconcile next without an event: when the status may be
// reported, when the plan may change, or to renew the stored plan.
func (p *observed) wake() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	at := autoscaler.Earliest{At: now.Add(autoscaler.TTL / 8)}
	at.Add(p.reportAt(now))
	at.Add(p.next)
	return at.At
}

// pause waits, and reports whether ctx is still active.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
