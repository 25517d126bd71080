package dispatch

import "github.com/gorizond/koldun/internal/serving/queue"

// adopt makes an attempt on a runner the current one.
func (r *roster) adopt(name string, p *peer, h queue.HeldAttempt) {
	j := r.ledger.jobs[h.Request.ID]
	if j == nil {
		if !r.stream.replayed {
			r.orphans[h.Request.ID] = orphan{name, h}
			return
		}
		// The request has ended, but its runner does not know.
		r.log.Info("stopping an attempt of a request that has ended", "request", h.Request.ID, "runner", name)
		r.sendCancel(h.Request.ID, h.Request.Tenant, "ended")
		return
	}
	switch j.phase {
	case fencing, queued:
		r.queue.Remove(j.req.ID)
		j.tries++
	case uncertain, running, assigning:
		if !j.is(h.Epoch, h.Attempt) || !j.isOn(name, p.rec.Instance) {
			return // another attempt is current, or another runner has it; frames of this one are dropped
		}
		if j.phase != running {
			j.tries++
		}
	case ending, retrying:
		return
	}
	j.phase = running
	j.attempt = attempt{
		epoch: h.Epoch, number: h.Attempt, runner: name, instance: p.rec.Instance, group: p.group().Name,
		version: p.rec.Version, started: h.Started, text: j.text || h.Text,
	}
	p.accepted(j)
	if j.cancelled {
		r.sendCancel(j.req.ID, j.req.Tenant, "cancelled")
	}
}

// adoptOrphan adopts the attempt at a job that a runner had before the request was read.
func (r *roster) adoptOrphan(j *job) {
	o, ok := r.orphans[j.req.ID]
	if !ok {
		return
	}
	delete(r.orphans, j.req.ID)
	if p := r.peers.byName[o.runner]; p != nil {
		r.adopt(o.runner, p, o.held)
		r.peers.offer(p) // one of its slots is no longer free
	}
}

// stopOrphans stops attempts of requests that the stream does not have any more.
func (r *roster) stopOrphans() {
	for id, o := range r.orphans {
		r.log.Info("stopping an attempt of a request that has ended", "request", id, "runner", o.runner)
		r.sendCancel(id, o.held.Request.Tenant, "ended")
	}
	clear(r.orphans)
}
