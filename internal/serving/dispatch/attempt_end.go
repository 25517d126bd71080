package dispatch

import (
	"strings"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// A groupedEnd is the end of an attempt, and the group that its runner had then: the
// runner may be gone when the consequence is decided.
type groupedEnd struct {
	queue.AttemptEnd
	group string
}

// onEnd handles the end of an attempt on a runner that is known, or lost long ago.
func (l *ledger) onEnd(e queue.AttemptEnd, reply func(queue.Ack)) {
	l.onGroupedEnd(groupedEnd{e, l.peers.group(e.Runner)}, reply)
}

// onGroupedEnd handles the end of an attempt. reply may be nil; it is called only when
// the consequence of the end is stored.
func (l *ledger) onGroupedEnd(e groupedEnd, reply func(queue.Ack)) {
	if reply == nil {
		reply = func(queue.Ack) {}
	}
	j := l.jobs[e.Request]
	switch {
	case j == nil && l.stream.replayed: // it has ended
		reply(queue.Ack{OK: true, Reason: "unknown"})
	case j == nil:
		l.unread[e.Request] = append(l.unread[e.Request], e)
		reply(queue.Ack{Reason: "not read yet"})
	case j.phase == ending, j.phase == retrying:
		j.acks = append(j.acks, reply)
	case j.is(e.Epoch, e.Attempt):
		l.peers.release(j)
		l.attemptEnded(j, e.AttemptEnd, reply)
	case j.unfenced && j.phase == fencing:
		j.whenFenced(func() { l.onGroupedEnd(e, reply) })
	case j.phase == queued, j.phase == fencing:
		l.untrackedEnd(j, e, reply)
	default:
		reply(queue.Ack{OK: true, Reason: "another attempt is current"})
	}
}

// attemptEnded decides the consequence of the end of the current attempt.
func (l *ledger) attemptEnded(j *job, e queue.AttemptEnd, reply func(queue.Ack)) {
	if j.phase != running {
		j.tries++ // it must have been accepted
		l.metrics.wait.Observe(max(e.Started.Sub(j.req.Created), 0).Seconds())
	}
	j.text = j.text || !e.FirstToken.IsZero()
	j.started = e.Started
	if e.Error == nil {
		l.positions.observe(e.Ended.Sub(e.Started))
		j.acks = append(j.acks, reply)
		l.finish(j, queue.Completed, nil, &e)
		return
	}
	switch e.Error.Code {
	case queue.CodeCancelled:
		j.acks = append(j.acks, reply)
		l.finish(j, queue.Cancelled, e.Error, &e)
	case queue.CodeTimeout, queue.CodeDeadline, queue.CodeInvalidRequest, queue.CodeContextLength, queue.CodeUnsupported:
		j.acks = append(j.acks, reply)
		l.finish(j, queue.Failed, e.Error, &e)
	case queue.CodeHandedBack:
		if !j.text && j.tries > 0 {
			j.tries-- // the request did not cause it
		}
		j.acks = append(j.acks, reply)
		l.retryOrFail(j, e.Error.Message, &e)
	default:
		j.acks = append(j.acks, reply)
		j.countFailure(queue.AttemptID{Epoch: e.Epoch, Attempt: e.Attempt})
		l.retryOrFail(j, e.Error.Message, &e)
	}
}

// untrackedEnd decides the consequence of the end of an attempt that this leader
// does not track: an attempt of an earlier leader, whose runner did not answer a sync.
func (l *ledger) untrackedEnd(j *job, e groupedEnd, reply func(queue.Ack)) {
	text := !e.FirstToken.IsZero()
	handedBack := e.Error != nil && e.Error.Code == queue.CodeHandedBack
	broke := handedBack || e.Error != nil && e.Error.Code == queue.CodeEngineFailed
	try := queue.AttemptID{Epoch: e.Epoch, Attempt: e.Attempt}
	if !text && (handedBack || broke && !try.After(j.known.UpTo)) {
		reply(queue.Ack{OK: true, Reason: "tried again"})
		return
	}
	j.acks = append(j.acks, reply)
	j.tries++
	j.text, j.started, j.runner, j.group = text, e.Started, e.Runner, e.group
	if broke && !text {
		j.countFailure(try)
		l.retryOrFail(j, e.Error.Message, &e.AttemptEnd)
		return
	}
	switch {
	case e.Error == nil:
		l.finish(j, queue.Completed, nil, &e.AttemptEnd)
	case e.Error.Code == queue.CodeCancelled:
		l.finish(j, queue.Cancelled, e.Error, &e.AttemptEnd)
	case broke:
		l.finish(j, queue.Failed, interrupted(e.Error.Message), &e.AttemptEnd)
	default:
		l.finish(j, queue.Failed, e.Error, &e.AttemptEnd)
	}
}

// attemptLost ends the current attempt of a job whose runner is gone.
func (l *ledger) attemptLost(j *job, why string) {
	if j.phase != running { // the runner may never have had the job
		j.tries++
	}
	j.countFailure(queue.AttemptID{Epoch: j.epoch, Attempt: j.attempt})
	l.retryOrFail(j, why, nil)
}

// retryOrFail handles a failed attempt: it retries the request if the client has
// seen no text, until the maximum number of attempts.
func (l *ledger) retryOrFail(j *job, why string, e *queue.AttemptEnd) {
	j.note(why, e != nil && e.Error != nil && e.Error.Code == queue.CodeHandedBack)
	switch {
	case j.cancelled && !j.text:
		l.finish(j, queue.Cancelled, cancelledFailure(), e)
	case j.text:
		l.finish(j, queue.Failed, interrupted(why), e)
	case j.tries >= l.cfg.MaxAttempts:
		j.poison = true
		l.finish(j, queue.Failed, &queue.Failure{Code: queue.CodeEngineFailed, Message: strings.Join(j.known.Reasons, "; ")}, e)
	default:
		l.log.Info("retrying on another runner", "request", j.req.ID, "tries", j.tries, "reason", why)
		l.metrics.retries.Inc()
		l.retry(j)
	}
}

func interrupted(why string) *queue.Failure {
	return &queue.Failure{Code: queue.CodeInterrupted, Message: "the generation broke off: " + why}
}

// onFirstToken handles the first token of an attempt.
func (l *ledger) onFirstToken(m queue.FirstToken) {
	if j := l.jobs[m.Request]; j != nil && j.is(m.Epoch, m.Attempt) {
		j.text = true
	}
}
