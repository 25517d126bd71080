package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// replayPatience limits how long a new leader waits for the syncs of all known
// runners before it assigns jobs to synced ones.
const replayPatience = 2 * time.Second

// mayAssign reports whether jobs may be assigned. A leader first syncs with the
// runners, or it could assign a request twice.
func (r *roster) mayAssign(now time.Time) bool {
	if !r.stream.replayed {
		return false
	}
	if back := r.cfg.Bus.Returned(); r.began.Sub(back) < reconnectGrace && !r.runnersReturned(now) {
		return false // runners with requests may not have returned yet
	}
	if now.Sub(r.began) > replayPatience {
		return true
	}
	return r.peers.synced()
}

// schedule assigns as many jobs as possible.
func (r *roster) schedule(now time.Time) {
	// A suspended process must not act on a lost lease when it resumes.
	if r.queue.Len() == 0 || !r.leads() || !r.cfg.Bus.Connected() || !r.mayAssign(now) {
		return
	}
	for {
		next, to, ok := r.queue.Next(now)
		if !ok {
			return
		}
		if j := r.ledger.jobs[next.ID]; !r.failUnresponsive(j) {
			r.assign(j, r.peers.byName[to.Runner], to.Number)
		}
	}
}

// failUnresponsive ends an attempt at the next job if a runner that does not answer
// this leader holds it for an earlier one. It reports whether there was one.
func (r *roster) failUnresponsive(j *job) bool {
	if j.known.Sequence == 0 {
		return false // without an earlier leader
	}
	for name, p := range r.peers.byName {
		for _, h := range p.rec.Held {
			try := queue.AttemptID{Epoch: h.Epoch, Attempt: h.Attempt}
			if !p.synced && h.Request.ID == j.req.ID && !h.Text && try.After(j.known.UpTo) {
				j.charged = true // it was removed from the queue
				r.ledger.onEnd(p, lostEnd(name, h, "its runner does not answer"), nil)
				return true
			}
		}
	}
	return false
}

// check syncs with the runners that have to answer, and repeats what others may have missed.
func (r *roster) check(now time.Time) {
	for name, p := range r.peers.byName {
		for _, s := range p.slots {
			if j := r.ledger.jobs[s.job]; j != nil && j.cancelled && j.phase == running {
				r.sendCancel(j.req.ID, j.req.Tenant, "again") // the runner may have missed it
			}
		}
		if now.Before(p.blocked) {
			continue
		}
		if (!p.synced || p.absent) && !p.syncing {
			r.sync(name, p)
			continue
		}
		r.peers.offer(p)
	}
}
