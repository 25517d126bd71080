package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/dispatch/policy"
	"github.com/gorizond/koldun/internal/queue"
)

// A phase is where a job stands. Each phase but queued has somebody whose
// answer moves it on.
type phase int

const (
	checking  phase = iota // being claimed: the outcome stream answers, or tells that it has ended
	queued                 // in the queue
	assigning              // offered to a runner, which answers
	uncertain              // offered, and no answer came: the runner is asked what it holds
	running                // a runner has it
	noting                 // an attempt has failed, which is being stored
	ending                 // its outcome is being stored
)

// A job is a request that has not ended, as its leader sees it.
type job struct {
	req      queue.Request // without its body
	raw      []byte        // as it is stored, to be passed on
	seq      uint64        // in the request stream
	phase    phase
	deadline time.Time
	cost     int  // tokens that its tenant is charged for an attempt
	charged  bool // until it is known

	// The attempt at hand, or the latest.
	epoch    uint64
	attempt  int
	runner   string
	instance string // of the runner
	version  uint64 // of the runner's record that first holds it
	started  time.Time
	text     bool // it has sent text

	tries     int            // attempts that were accepted
	known     queue.Attempts // those that failed, as stored or to be
	unclaimed bool           // an earlier leader may still record something of it
	onClaim   []func()       // what waits until that is over
	poison    bool           // it ends because too many failed it
	cancelled bool
	queued    time.Time         // since when it is in the queue
	noticed   time.Time         // when the client was last told its place there; zero if never
	place     int               // what it was told
	acks      []func(queue.Ack) // to give when it is stored what follows
}

// acknowledge tells runners that the ends they reported cannot get lost.
func (j *job) acknowledge() {
	for _, ack := range j.acks {
		ack(queue.Ack{OK: true})
	}
	j.acks = nil
}

// held reports whether a runner has or may have the attempt at hand.
func (j *job) held() bool {
	return j.phase == assigning || j.phase == uncertain || j.phase == running
}

// is reports whether the attempt at hand is the one named.
func (j *job) is(epoch uint64, attempt int) bool {
	return j.held() && j.epoch == epoch && j.attempt == attempt
}

func (j *job) waiting(now time.Time) policy.Job {
	return policy.Job{
		ID:       j.req.ID,
		Tenant:   j.req.Tenant,
		Class:    class(j.req.Priority),
		Affinity: j.req.Affinity,
		Order:    j.seq,
		Since:    now,
		Deadline: j.deadline,
		Cost:     j.cost,
		Avoid:    j.known.Runners,
	}
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

// expectedAnswer is how many tokens an answer is taken to have before it is known.
const expectedAnswer = 256

// estimate is the cost of a request in tokens: a token per four bytes of its
// body, and an answer.
func estimate(r queue.Request) int { return len(r.Body)/4 + expectedAnswer }
