package dispatch

import (
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// A groupedEnd is the end of an attempt, and the group and the instance of its runner
// then: the runner may be gone when the consequence is decided.
type groupedEnd struct {
	queue.AttemptEnd
	group, instance string
}

// A consequence is what follows from the end of an attempt.
type consequence struct {
	state   queue.State // in which the request ends; "": it is tried again
	failure *queue.Failure
	end     *queue.AttemptEnd // nil if no runner has reported it
	why     string            // it is tried again
}

// attemptEnded decides the consequence of the end of the current attempt.
func (j *job) attemptEnded(e queue.AttemptEnd, cfg *Config) consequence {
	if j.phase != running {
		j.tries++ // it must have been accepted
	}
	j.text = j.text || !e.FirstToken.IsZero()
	j.started = e.Started
	if e.Error == nil {
		return consequence{state: queue.Completed, end: &e}
	}
	switch e.Error.Code {
	case queue.CodeCancelled:
		return consequence{state: queue.Cancelled, failure: e.Error, end: &e}
	case queue.CodeTimeout, queue.CodeDeadline, queue.CodeInvalidRequest, queue.CodeContextLength, queue.CodeUnsupported:
		return consequence{state: queue.Failed, failure: e.Error, end: &e}
	case queue.CodeBusy:
		if failure := j.serverRefused(e.Error, e.Ended, cfg.ServerPatience); failure != nil && !j.text {
			return consequence{state: queue.Failed, failure: failure, end: &e}
		}
		fallthrough
	case queue.CodeHandedBack:
		if !j.text && j.tries > 0 {
			j.tries-- // the request did not cause it
		}
	default:
		j.countFailure(queue.AttemptID{Epoch: e.Epoch, Attempt: e.Attempt})
	}
	return j.retryOrFail(e.Error.Message, &e, cfg)
}

// untrackedEnd decides the consequence of the end of an attempt that this leader does not
// track: an attempt of an earlier leader, whose runner did not answer a sync. It returns
// false if there is none, because the request is tried again already.
func (j *job) untrackedEnd(e groupedEnd, cfg *Config) (consequence, bool) {
	text := !e.FirstToken.IsZero()
	handedBack := e.Error != nil && handsBack(e.Error.Code)
	broke := handedBack || e.Error != nil && e.Error.Code == queue.CodeEngineFailed
	try := queue.AttemptID{Epoch: e.Epoch, Attempt: e.Attempt}
	if !text && (handedBack || broke && !try.After(j.known.UpTo)) {
		return consequence{}, false
	}
	j.tries++
	j.text, j.started, j.runner, j.group = text, e.Started, e.Runner, e.group
	if broke && !text {
		j.countFailure(try)
		return j.retryOrFail(e.Error.Message, &e.AttemptEnd, cfg), true
	}
	c := consequence{state: queue.Failed, failure: e.Error, end: &e.AttemptEnd}
	switch {
	case e.Error == nil:
		c.state = queue.Completed
	case e.Error.Code == queue.CodeCancelled:
		c.state = queue.Cancelled
	case broke:
		c.failure = interrupted(e.Error.Message)
	}
	return c, true
}

// attemptLost decides the consequence of the loss of the runner with the current attempt.
func (j *job) attemptLost(why string, cfg *Config) consequence {
	if j.phase != running { // the runner may never have had the job
		j.tries++
	}
	j.countFailure(queue.AttemptID{Epoch: j.epoch, Attempt: j.number})
	return j.retryOrFail(why, nil, cfg)
}

// retryOrFail decides the consequence of a failed attempt: the request is tried again if the
// client has seen no text, until the maximum number of attempts.
func (j *job) retryOrFail(why string, e *queue.AttemptEnd, cfg *Config) consequence {
	j.note(why, e != nil && e.Error != nil && handsBack(e.Error.Code))
	switch {
	case j.cancelled && !j.text:
		return consequence{state: queue.Cancelled, failure: cancelledFailure(), end: e}
	case j.text:
		return consequence{state: queue.Failed, failure: interrupted(why), end: e}
	case j.tries >= cfg.MaxAttempts:
		j.poison = true
		failure := &queue.Failure{Code: queue.CodeEngineFailed, Message: strings.Join(j.known.Reasons, "; ")}
		return consequence{state: queue.Failed, failure: failure, end: e}
	default:
		return consequence{why: why}
	}
}

// handsBack reports whether a failed attempt was not the fault of its request.
func handsBack(code string) bool { return code == queue.CodeHandedBack || code == queue.CodeBusy }

// serverRefused notes that a server refused the request for now. It returns the failure in
// which the request ends if the server asks for more patience than is left, and nil if the
// request waits.
func (j *job) serverRefused(f *queue.Failure, now time.Time, patience time.Duration) *queue.Failure {
	if j.refusal == nil {
		j.refusedUntil = now.Add(patience)
	}
	j.refusal = f
	if now.Add(time.Duration(f.RetryAfter) * time.Second).After(j.refusedUntil) {
		return f
	}
	return nil
}

// countFailure records a failed attempt for later leaders.
func (j *job) countFailure(try queue.AttemptID) {
	j.known.Failed++
	if try.After(j.known.UpTo) {
		j.known.UpTo = try
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

func cancelledFailure() *queue.Failure {
	return &queue.Failure{Code: queue.CodeCancelled, Message: "the request was cancelled"}
}
