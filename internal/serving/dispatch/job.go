package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// A phase is the state of a job. In each phase but queued, the job waits for an
// answer.
type phase int

const (
	fencing   phase = iota // its earlier attempts are being fenced
	queued                 // in the queue
	assigning              // offered to a runner
	uncertain              // offered without an answer: the leader syncs with the runner
	running                // a runner has it
	retrying               // a failed attempt is being stored
	ending                 // its outcome is being stored
)

// An attempt is a runner's turn at a job.
type attempt struct {
	epoch    uint64
	number   int // within the epoch
	runner   string
	instance string // of the runner
	group    string // of the runner
	version  uint64 // of the runner's record that first holds it
	started  time.Time
	text     bool // whether it has sent text
}

// A job is the leader's state of a request that has not ended.
type job struct {
	req      queue.Request // without its body
	raw      []byte        // stored JSON, for assignments
	seq      uint64        // in the request stream
	stored   bool          // whether the stream has it at seq, as far as it was read
	phase    phase
	deadline time.Time
	cost     int  // expected tokens, charged to its tenant per attempt
	charged  bool // whether the expected cost is charged

	attempt // the current one, or the last one

	tries        int            // accepted attempts
	known        queue.Attempts // failed attempts, stored or about to be
	unfenced     bool           // an earlier leader may still store a record for it
	onFenced     []func()       // functions to call when it is fenced
	poison       bool           // it ends because too many runners failed it
	cancelled    bool
	refusal      *queue.Failure    // of the last server that was busy; nil: none was
	refusedUntil time.Time         // how long it waits for such a server
	lost         bool              // the stream has lost it: it only ends
	queued       time.Time         // when it entered the queue
	notified     time.Time         // time of the last FrameQueued, or zero
	position     int               // position in that frame
	acks         []func(queue.Ack) // to call when the consequence is stored
}

// acknowledge confirms the reported ends to their runners.
func (j *job) acknowledge() {
	for _, ack := range j.acks {
		ack(queue.Ack{OK: true})
	}
	j.acks = nil
}

// held reports whether a runner has or may have the current attempt.
func (j *job) held() bool {
	return j.phase == assigning || j.phase == uncertain || j.phase == running
}

// is reports whether the current attempt is the given one.
func (j *job) is(epoch uint64, attempt int) bool {
	return j.held() && j.epoch == epoch && j.number == attempt
}

// isOn reports whether a process has the current attempt. Only it, gateways and
// dispatchers know the name of its instance.
func (j *job) isOn(runner, instance string) bool { return j.runner == runner && j.instance == instance }

func (j *job) waiting(now time.Time) policy.Job {
	return policy.Job{
		ID:       j.req.ID,
		Tenant:   j.req.Tenant,
		Class:    class(j.req.Priority),
		Affinity: j.req.Affinity,
		Order:    j.seq,
		Since:    now,
		Deadline: j.leaveBy(),
		Cost:     j.cost,
		Avoid:    j.known.Runners, AvoidGroups: j.known.Groups,
		Operation: j.req.Operation.OrChat(),
		Features:  j.req.Features,
	}
}

// leaveBy returns when the job leaves the queue.
func (j *job) leaveBy() time.Time {
	if j.refusal != nil && j.refusedUntil.Before(j.deadline) {
		return j.refusedUntil
	}
	return j.deadline
}

func class(p queue.Priority) policy.Class {
	switch p {
	case queue.PriorityHigh:
		return policy.High
	case queue.PriorityLow:
		return policy.Low
	case queue.PriorityNormal:
	}
	return policy.Normal
}

// expectedAnswer is the assumed number of tokens of an answer.
const expectedAnswer = 256

// estimate is the cost of a request in tokens: a token per four bytes of its
// body, and an answer.
func estimate(r queue.Request) int { return len(r.Body)/4 + expectedAnswer }

// whenFenced calls f now, or as soon as the job is fenced.
func (j *job) whenFenced(f func()) {
	if j.unfenced {
		j.onFenced = append(j.onFenced, f)
		return
	}
	f()
}

// addEarlier adds the stored attempts of earlier leaders.
func (j *job) addEarlier(t queue.Attempts) {
	j.tries += t.Failed
	j.known.Failed += t.Failed
	j.known.Reasons = append(t.Reasons, j.known.Reasons...)
	j.known.Runners = append(t.Runners, j.known.Runners...)
	j.known.Groups = append(t.Groups, j.known.Groups...)
	j.known.Sequence = t.Sequence
	if t.UpTo.After(j.known.UpTo) {
		j.known.UpTo = t.UpTo
	}
}

// fill sets what a job has from its message.
func (j *job) fill(e queue.Entry, maxWait time.Duration) {
	r := e.Request
	j.req, j.raw, j.cost, j.deadline = r, e.Raw, estimate(r), r.Created.Add(maxWait)
	j.req.Body = nil // raw contains it
	for _, limit := range []time.Time{r.Deadline, r.EndBy} {
		if !limit.IsZero() && limit.Before(j.deadline) {
			j.deadline = limit
		}
	}
}
