package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
)

// peers are the runners that a leader knows, and their slots in its queue. The leader's loop
// owns them.
type peers struct {
	queue  *policy.Queue
	byName map[string]*peer
}

// offer updates the slots of a runner in the queue.
func (p *peers) offer(of *peer) { of.offer(p.queue, time.Now()) }

// release records that a runner no longer has a job.
func (p *peers) release(j *job) {
	if of := p.byName[j.runner]; of != nil && of.drop(j.req.ID) {
		of.forgetHeld(j.req.ID)
		p.offer(of)
	}
}

// remove removes a runner.
func (p *peers) remove(name string) {
	delete(p.byName, name)
	p.queue.RemoveRunner(name)
}

// synced reports whether all runners have answered a sync of this epoch.
func (p *peers) synced() bool {
	for _, of := range p.byName {
		if !of.synced {
			return false
		}
	}
	return true
}
