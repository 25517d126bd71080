package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/queue"
)

const (
	noticeAfter  = tickEvery        // time in the queue before the first message
	noticeEvery  = 2 * time.Second  // shortest interval, for changed positions
	noticeAtMost = 10 * time.Second // longest interval
)

// notice sends waiting clients their position in the queue.
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

// tellPlace sends one client its position and the estimated wait.
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

// expectedWait estimates the wait of a request, or returns 0 if the pool is
// unknown.
func (l *leader) expectedWait(ahead int) time.Duration {
	slots := l.queue.Slots()
	if slots == 0 {
		return 0
	}
	return l.pace * time.Duration(ahead/slots+1)
}
