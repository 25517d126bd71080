package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
	"github.com/gorizond/koldun/internal/serving/queue"
)

const (
	positionAfter  = tickEvery        // time in the queue before the first message
	positionEvery  = 2 * time.Second  // shortest interval, for changed positions
	positionAtMost = 10 * time.Second // longest interval
)

// positions tells waiting clients where in the queue their requests are. The leader's loop
// owns it.
type positions struct {
	*loop
	queue        *policy.Queue
	jobs         map[string]*job
	notifiedAt   time.Time     // time of the last FrameQueued messages
	unnotified   bool          // whether a waiting client never got one
	meanDuration time.Duration // average duration of an attempt
}

// send sends waiting clients their position in the queue.
func (p *positions) send(now time.Time) {
	again := now.Sub(p.notifiedAt) >= positionEvery
	if p.queue.Len() == 0 || !again && !p.unnotified {
		return
	}
	if again {
		p.notifiedAt = now
	}
	p.unnotified = false
	p.queue.Positions(func(id string, ahead int) {
		j := p.jobs[id]
		switch {
		case j.notified.IsZero() && now.Sub(j.queued) < positionAfter:
			p.unnotified = true
		case j.notified.IsZero(), again && (j.position != ahead || now.Sub(j.notified) >= positionAtMost):
			p.sendOne(j, ahead)
		}
	})
}

// sendOne sends one client its position and the estimated wait.
func (p *positions) sendOne(j *job, ahead int) {
	j.position, j.notified = ahead, time.Now()
	f := queue.Frame{
		Request: j.req.ID, Epoch: p.epoch, Attempt: j.number, Seq: -1,
		Kind: queue.FrameQueued, Position: ahead, Wait: p.expectedWait(ahead),
	}
	if err := p.requests.PublishFrame(p.session, f); err != nil {
		p.log.Debug("cannot publish the position of a request", "request", j.req.ID, "error", err)
	}
}

// expectedWait estimates the wait of a request, or returns 0 if the pool is
// unknown.
func (p *positions) expectedWait(ahead int) time.Duration {
	slots := p.queue.Slots()
	if slots == 0 {
		return 0
	}
	return p.meanDuration * time.Duration(ahead/slots+1)
}

// observe updates the average duration of attempts.
func (p *positions) observe(d time.Duration) {
	if p.meanDuration == 0 {
		p.meanDuration = d
		return
	}
	p.meanDuration += (d - p.meanDuration) / 8
}
