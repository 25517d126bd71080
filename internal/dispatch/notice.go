package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/queue"
)

const (
	noticeAfter  = tickEvery        // sooner a place is not worth a message
	noticeEvery  = 2 * time.Second  // at most so often, and only if its place has changed
	noticeAtMost = 10 * time.Second // at least so often
)

// notice tells those who wait their place in the queue.
func (l *leader) notice(now time.Time) {
	again := now.Sub(l.noticedAt) >= noticeEvery
	if l.queue.Len() == 0 || !again && !l.untold {
		return
	}
	if again {
		l.noticedAt = now
	}
	l.untold = false
	l.queue.Positions(func(id string, ahead int) {
		j := l.jobs[id]
		switch {
		case j.noticed.IsZero() && now.Sub(j.queued) < noticeAfter:
			l.untold = true
		case j.noticed.IsZero(), again && (j.place != ahead || now.Sub(j.noticed) >= noticeAtMost):
			l.tellPlace(j, ahead)
		}
	})
}

// tellPlace tells one client its place and how long it may take.
func (l *leader) tellPlace(j *job, ahead int) {
	j.place, j.noticed = ahead, time.Now()
	f := queue.Frame{
		Request: j.req.ID, Epoch: l.epoch, Attempt: j.attempt, Seq: -1,
		Kind: queue.FrameQueued, Position: ahead, Wait: l.expectedWait(ahead),
	}
	if err := l.m.requests.PublishFrame(f); err != nil {
		l.log.Debug("cannot tell a place", "request", j.req.ID, "error", err)
	}
}

// expectedWait estimates how long a request waits, or returns 0 if nothing is
// known of the pool.
func (l *leader) expectedWait(ahead int) time.Duration {
	slots := l.queue.Slots()
	if slots == 0 {
		return 0
	}
	return l.pace * time.Duration(ahead/slots+1)
}
