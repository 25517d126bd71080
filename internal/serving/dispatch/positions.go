package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

const (
	positionAfter  = tickEvery        // time in the queue before the first message
	positionEvery  = 2 * time.Second  // shortest interval, for changed positions
	positionAtMost = 10 * time.Second // longest interval
)

// sendPositions sends waiting clients their position in the queue.
func (l *leader) sendPositions(now time.Time) {
	again := now.Sub(l.notifiedAt) >= positionEvery
	if l.queue.Len() == 0 || !again && !l.unnotified {
		return
	}
	if again {
		l.notifiedAt = now
	}
	l.unnotified = false
	l.queue.Positions(func(id string, ahead int) {
		j := l.jobs[id]
		switch {
		case j.notified.IsZero() && now.Sub(j.queued) < positionAfter:
			l.unnotified = true
		case j.notified.IsZero(), again && (j.position != ahead || now.Sub(j.notified) >= positionAtMost):
			l.sendPosition(j, ahead)
		}
	})
}

// sendPosition sends one client its position and the estimated wait.
func (l *leader) sendPosition(j *job, ahead int) {
	j.position, j.notified = ahead, time.Now()
	f := queue.Frame{
		Request: j.req.ID, Epoch: l.epoch, Attempt: j.attempt, Seq: -1,
		Kind: queue.FrameQueued, Position: ahead, Wait: l.expectedWait(ahead),
	}
	if err := l.requests.PublishFrame(l.name, f); err != nil {
		l.log.Debug("cannot publish the position of a request", "request", j.req.ID, "error", err)
	}
}

// expectedWait estimates the wait of a request, or returns 0 if the pool is
// unknown.
func (l *leader) expectedWait(ahead int) time.Duration {
	slots := l.queue.Slots()
	if slots == 0 {
		return 0
	}
	return l.meanDuration * time.Duration(ahead/slots+1)
}
