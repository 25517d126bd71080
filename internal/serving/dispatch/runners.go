package dispatch

import "github.com/gorizond/koldun/internal/serving/queue"

// onRunner handles a changed or removed record of a runner.
func (r *roster) onRunner(name string, rec queue.Runner, gone bool) {
	p := r.peers.byName[name]
	if gone {
		if p != nil {
			r.recordGone(name, p)
		}
		return
	}
	rec.Name = name // the key identifies the runner
	if p != nil && p.rec.Instance != rec.Instance {
		r.removePeer(name, p, "its runner was restarted")
		p = nil
	}
	if p == nil {
		p = newPeer(rec)
		r.peers.byName[name] = p
		r.sync(name, p)
		return
	}
	if rec.Version < p.rec.Version {
		return // older than the runner's last message
	}
	p.absent = false
	r.update(p, rec)
}

// recordGone handles an expired or removed record of a runner. It syncs once more
// before it gives the runner up, because after an outage of NATS the records of
// healthy runners have expired as well.
func (r *roster) recordGone(name string, p *peer) {
	if p.rec.State == queue.RunnerDraining && p.idle() {
		r.removePeer(name, p, "its runner has stopped")
		return
	}
	p.absent, p.synced = true, false
	r.queue.RemoveRunner(name)
	if !p.syncing {
		r.sync(name, p)
	}
}

// onReport handles a runner's report of the end of an attempt and of its status.
func (r *roster) onReport(report queue.EndReport, reply func(queue.Ack)) {
	p := r.peers.byName[report.Runner]
	if p != nil {
		p.setStatus(report.Status)
	}
	r.ledger.onEnd(report.AttemptEnd, reply)
	if p != nil && r.peers.byName[report.Runner] == p {
		r.peers.offer(p)
	}
}
