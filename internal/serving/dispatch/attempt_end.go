package dispatch

import (
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// onFirstToken handles the first token of an attempt.
func (l *leader) onFirstToken(m queue.FirstToken) {
	if j := l.jobs[m.Request]; j != nil && j.is(m.Epoch, m.Attempt) {
		j.text = true
	}
}

// onReport handles a runner's report of the end of an attempt and of its status.
func (l *leader) onReport(r queue.EndReport, reply func(queue.Ack)) {
	p := l.peers.byName[r.Runner]
	if p != nil {
		p.setStatus(r.Status)
	}
	l.onEnd(r.AttemptEnd, reply)
	if p != nil && l.peers.byName[r.Runner] == p {
		l.peers.offer(p)
	}
}

// A groupedEnd is the end of an attempt, and the group that its runner had then: the
// runner may be gone when the consequence is decided.
type groupedEnd struct {
	queue.AttemptEnd
	group string
}

// onEnd handles the end of an attempt on a runner that is known, or lost long ago.
func (l *leader) onEnd(e queue.AttemptEnd, reply func(queue.Ack)) {
	l.onGroupedEnd(groupedEnd{e, l.peers.group(e.Runner)}, reply)
}

// onGroupedEnd handles the end of an attempt. reply may be nil; it is called only when
// the consequence of the end is stored.
func (l *leader) onGroupedEnd(e groupedEnd, reply func(queue.Ack)) {
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
func (l *leader) attemptEnded(j *job, e queue.AttemptEnd, reply func(queue.Ack)) {
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
		l.countFailure(j, queue.AttemptID{Epoch: e.Epoch, Attempt: e.Attempt})
		l.retryOrFail(j, e.Error.Message, &e)
	}
}

// untrackedEnd decides the consequence of the end of an attempt that this leader
// does not track: an attempt of an earlier leader, whose runner did not answer a sync.
func (l *leader) untrackedEnd(j *job, e groupedEnd, reply func(queue.Ack)) {
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
		l.countFailure(j, try)
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
func (l *leader) attemptLost(j *job, why string) {
	if j.phase != running { // the runner may never have had the job
		j.tries++
	}
	l.countFailure(j, queue.AttemptID{Epoch: j.epoch, Attempt: j.attempt})
	l.retryOrFail(j, why, nil)
}

// countFailure records a failed attempt for later leaders.
func (l *leader) countFailure(j *job, try queue.AttemptID) {
	j.known.Failed++
	if try.After(j.known.UpTo) {
		j.known.UpTo = try
	}
}

// retryOrFail handles a failed attempt: it retries the request if the client has
// seen no text, until the maximum number of attempts.
func (l *leader) retryOrFail(j *job, why string, e *queue.AttemptEnd) {
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

// note adds why an attempt failed to the record. A runner may hand a request back
// any number of times for one reason, which is noted once.
func (j *job) note(why string, handedBack bool) {
	if handedBack {
		for i, reason := range j.known.Reasons {
			if reason == why && i < len(j.known.Runners) && j.known.Runners[i] == j.runner {
				return
			}
		}
	}
	j.known.Reasons = append(j.known.Reasons, why)
	j.known.Runners = append(j.known.Runners, j.runner)
	j.known.Groups = append(j.known.Groups, j.group)
}

func interrupted(why string) *queue.Failure {
	return &queue.Failure{Code: queue.CodeInterrupted, Message: "the generation broke off: " + why}
}

// onCancel drops a request.
func (l *leader) onCancel(id string, c queue.CancelOrder, reply func(queue.Ack)) {
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
