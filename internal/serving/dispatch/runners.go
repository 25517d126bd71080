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

// onReport handles a runner's report of the end of an attempt and of its status. All
// runners of a session send reports to one subject, so a report counts only with the
// instance of the runner's record, which no other runner can read or write. One whose
// record is not here, because it has expired, reports again until it is.
func (r *roster) onReport(report queue.EndReport, reply func(queue.Ack)) {
	p := r.peers.byName[report.Runner]
	if p == nil || p.rec.Instance != report.Status.Instance {
		r.log.Debug("a report is not that of a known runner", "request", report.Request, "runner", report.Runner)
		reply(queue.Ack{Reason: "the runner has no such record"})
		return
	}
	p.setStatus(report.Status)
	r.ledger.onEnd(p, report.AttemptEnd, reply)
	if r.peers.byName[report.Runner] == p {
		r.peers.offer(p)
	}
}
