package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// outcome returns the terminal record of a job. e is nil if no runner has reported
// the end of an attempt.
func (j *job) outcome(session string, state queue.State, failure *queue.Failure, e *queue.AttemptEnd) queue.Outcome {
	o := queue.Outcome{
		Request:  j.req.ID,
		Session:  session,
		Tenant:   j.req.Tenant,
		Model:    j.req.Model,
		State:    state,
		Priority: j.req.Priority,
		Attempts: j.tries,
		Runner:   j.runner,
		Group:    j.group,
		Created:  j.req.Created,
		Started:  j.started,
		Ended:    time.Now().UTC(),
		Error:    failure,
		Reasons:  j.known.Reasons,
		ReplayOf: j.req.ReplayOf,
	}
	if e != nil {
		o.First, o.Ended, o.Usage = e.FirstToken, e.Ended.UTC(), e.Usage
	}
	return o
}
