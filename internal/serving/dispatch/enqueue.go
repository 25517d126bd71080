package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// admit makes a request wait for a runner.
func (l *ledger) admit(j *job) {
	if l.earlyCancels.has(j.req.ID) {
		j.cancelled = true
	}
	l.enqueue(j)
}

// enqueue puts a job into the queue, or ends it if it is cancelled or expired.
func (l *ledger) enqueue(j *job) {
	now := time.Now()
	switch {
	case j.lost:
		l.finish(j, queue.Failed, lostFailure(), nil)
	case j.cancelled:
		l.finish(j, queue.Cancelled, cancelledFailure(), nil)
	case !now.Before(j.leaveBy()):
		l.expired(j, now)
	default:
		j.phase, j.queued, j.notified = queued, now, time.Time{}
		l.positions.unnotified = true
		l.queue.Add(j.waiting(now))
	}
}

// requeue puts back a job that a runner did not accept.
func (l *ledger) requeue(j *job) {
	l.chargeActual(j, 0)
	l.enqueue(j)
}

// onCancel drops a request.
func (l *ledger) onCancel(id string, c queue.CancelOrder, reply func(queue.Ack)) {
	j := l.jobs[id]
	if j == nil {
		if !l.stream.ended.has(id) {
			l.earlyCancels.add(id, time.Now())
		}
		reply(queue.Ack{OK: true, Reason: "unknown"})
		return
	}
	if c.Tenant != "" && c.Tenant != j.req.Tenant {
		reply(queue.Ack{Reason: "not yours"})
		return
	}
	j.cancelled = true
	if j.phase == queued {
		l.finish(j, queue.Cancelled, cancelledFailure(), nil)
	}
	// A runner that has the request receives the same message.
	reply(queue.Ack{OK: true})
}

// expire ends the jobs whose deadline has passed in the queue.
func (l *ledger) expire(now time.Time) {
	for _, w := range l.queue.Expired(now) {
		l.expired(l.jobs[w.ID], now)
	}
}

// expired ends a job that has waited in the queue for as long as it may.
func (l *ledger) expired(j *job, now time.Time) {
	if now.Before(j.deadline) { // only its patience with a busy server has ended
		l.finish(j, queue.Failed, j.refusal, nil)
		return
	}
	l.finish(j, queue.Expired, expiredFailure(j.req, now), nil)
}

// expiredFailure returns why a request ends in the queue.
func expiredFailure(r queue.Request, now time.Time) *queue.Failure {
	if !r.EndBy.IsZero() && !now.Before(r.EndBy) {
		return r.PastEnd()
	}
	return &queue.Failure{Code: queue.CodeExpired, Message: "no runner was free before the deadline"}
}

func lostFailure() *queue.Failure {
	return &queue.Failure{Code: queue.CodeInterrupted, Message: "the queue has lost the request: send it again"}
}
