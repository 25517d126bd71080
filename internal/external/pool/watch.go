package pool

import (
	"context"
	"slices"
	"time"
)

const (
	// together is the delay of a look after an event, which collects further
	// events, and apart is the minimum interval of looks of a busy pool.
	together = 50 * time.Millisecond
	apart    = 500 * time.Millisecond
	// retry is when to look again after a failed look.
	retry = 2 * time.Second
)

// Watch looks at the pool whenever its queue or its runners change, and calls
// changed when the result of Observe changes: at once for members, otherwise with a
// limited rate. It returns nil when ctx ends. All callers share the watches of
// queue and runners. Watch calls changed from one goroutine, and changed should not
// block for long.
func (c *Client) Watch(ctx context.Context, s Spec, changed func()) error {
	w, release := c.hold(s)
	defer release()
	news, stop := c.feed.Follow(s.Session)
	defer stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var looked time.Time
	told := Status{}
	for first := true; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-news:
			if !pause(ctx, max(together, time.Until(looked.Add(apart)))) {
				return nil
			}
		case <-timer.C:
		}
		looked = time.Now()
		// Who observes with another spec meanwhile decides for the watch, too.
		if err := w.lookAgain(ctx, c, s); err != nil {
			timer.Reset(retry)
			continue
		}
		now, wake := time.Now(), w.wake()
		if shown := w.shown(now); first || !shown.equal(told) {
			first, told = false, shown
			changed()
		}
		timer.Reset(max(wake.Sub(now), time.Millisecond))
	}
}

// wake is when to look again without any news.
func (w *watched) wake() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	// At the latest when the change may be reported.
	now := time.Now()
	latest := now.Add(keep / 8)
	if at := w.dueAt(now); !at.IsZero() && at.Before(latest) {
		latest = at
	}
	if !w.again.IsZero() && w.again.Before(latest) {
		return w.again
	}
	return latest
}

func (s Status) equal(o Status) bool {
	if !slices.Equal(s.Members, o.Members) {
		return false
	}
	if (s.LastActivity == nil) != (o.LastActivity == nil) || s.LastActivity != nil && !s.LastActivity.Equal(*o.LastActivity) {
		return false
	}
	return s.NextMember == o.NextMember && s.Backlog == o.Backlog && s.InFlight == o.InFlight &&
		s.OldestAgeSeconds == o.OldestAgeSeconds && s.IdleRunners == o.IdleRunners && s.BusyRunners == o.BusyRunners
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
