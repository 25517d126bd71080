package dispatch

import (
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// A roster follows the runners of a session: it syncs with them, adopts their attempts and
// assigns jobs to them. The leader's loop owns it.
type roster struct {
	*loop
	queue   *policy.Queue
	peers   *peers
	stream  *stream
	ledger  *ledger
	orphans map[string]orphan // attempts on runners of requests not read yet
}

// An orphan is an attempt on a runner whose request the leader has not read yet.
type orphan struct {
	runner string
	held   queue.HeldAttempt
}

// update applies a newer record of a runner.
func (r *roster) update(p *peer, rec queue.Runner) {
	p.setRecord(rec)
	for _, e := range rec.Ends {
		r.ledger.onEnd(p, e, nil)
	}
	for _, s := range slices.Clone(p.slots) {
		j := r.ledger.jobs[s.job]
		if j == nil || j.phase != running || j.runner != rec.Name {
			continue
		}
		h, ok := holds(rec, j)
		switch {
		case ok:
			j.text = j.text || h.Text
		case rec.Version >= j.version:
			p.drop(s.job)
			r.ledger.attemptLost(j, "its runner dropped it")
		}
	}
	r.peers.offer(p)
}

// removePeer removes a runner, and ends its attempts.
func (r *roster) removePeer(name string, p *peer, why string) {
	r.log.Info("a runner is gone", "runner", name, "reason", why)
	r.peers.remove(name)
	for _, e := range p.rec.Ends {
		r.ledger.onEnd(p, e, nil)
	}
	for id, o := range r.orphans {
		if o.runner == name {
			delete(r.orphans, id)
		}
	}
	for _, j := range r.ledger.jobs {
		if j.held() && j.runner == name && j.instance == p.rec.Instance {
			r.ledger.attemptLost(j, why)
		}
	}
	// Attempts for an earlier leader that this leader never learned.
	for _, h := range p.rec.Held {
		r.ledger.onGroupedEnd(p.ended(lostEnd(name, h, why)), nil)
	}
}

// lostEnd returns the end of an attempt on a lost runner.
func lostEnd(runner string, h queue.HeldAttempt, why string) queue.AttemptEnd {
	e := queue.AttemptEnd{
		Request: h.Request.ID, Epoch: h.Epoch, Attempt: h.Attempt, Runner: runner, Started: h.Started, Ended: time.Now(),
		Error: &queue.Failure{Code: queue.CodeEngineFailed, Message: why},
	}
	if h.Text {
		e.FirstToken = h.Started
	}
	return e
}
