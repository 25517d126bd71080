package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

const (
	assignTry  = 2 * time.Second        // limit for a runner to accept or refuse an assignment
	refusePast = 200 * time.Millisecond // pause before the next offer to a runner that refused
)

// assign offers a job to a slot of a runner.
func (r *roster) assign(j *job, p *peer, slot int) {
	name := p.rec.Name
	number := 1
	if j.epoch == r.epoch {
		number = j.number + 1
	}
	j.phase, j.charged = assigning, true
	j.attempt = attempt{
		epoch: r.epoch, number: number, runner: name, instance: p.rec.Instance, group: p.group().Name, version: p.rec.Version + 1,
	}
	p.offered(j, slot)
	p.seq++
	as := queue.Assignment{Attempt: j.number, Epoch: r.epoch, Seq: p.seq, Instance: p.rec.Instance}
	data, err := queue.EncodeAssignment(j.raw, as)
	if err == nil {
		err = bus.Ask(r.cfg.Bus, names.AssignSubject(r.session, name), data, assignTry, func(reply queue.AssignmentReply, err error) {
			r.post(func() {
				if j.phase == assigning && j.epoch == as.Epoch && j.number == as.Attempt { // or it was heard or lost meanwhile
					r.onReply(j, p, reply, err)
				}
			})
		})
	}
	if err != nil {
		r.onReply(j, p, queue.AssignmentReply{}, fault.As(fault.NotFound, err))
	}
}

// onReply handles the answer of a runner to an offer.
func (r *roster) onReply(j *job, p *peer, reply queue.AssignmentReply, err error) {
	now := time.Now()
	if err == nil {
		p.setStatus(reply.RunnerStatus)
	}
	switch {
	case err == nil && reply.Accepted:
		j.phase, j.version, j.started = running, reply.Version, now
		p.accepted(j)
		j.tries++
		r.metrics.wait.Observe(now.Sub(j.req.Created).Seconds())
		if j.cancelled {
			r.sendCancel(j.req.ID, j.req.Tenant, "cancelled")
		}
		if p.capacity > 1 {
			r.peers.offer(p) // other slots may be free
		}
		return
	case err == nil:
		r.log.Debug("a runner refused", "request", j.req.ID, "runner", p.rec.Name, "reason", reply.Reason)
		p.blocked = now.Add(refusePast)
		switch reply.Reason {
		case queue.RefusedStale:
			if reply.Epoch > j.epoch {
				r.newerEpoch(reply.Epoch)
			}
			p.synced = false
		case queue.RefusedUnsynced:
			p.synced = false
		}
	case fault.Is(err, fault.NotFound): // the runner was not subscribed
		r.log.Debug("a runner is not there", "request", j.req.ID, "runner", p.rec.Name)
		p.blocked, p.synced = now.Add(syncPause), false
	default:
		// The runner may have the job. Until it has answered a sync or is gone,
		// the job is not offered to others.
		r.log.Warn("a runner did not answer", "request", j.req.ID, "runner", p.rec.Name, "error", err)
		j.phase = uncertain
		p.synced = false
		r.peers.offer(p)
		if !p.syncing {
			r.sync(p.rec.Name, p)
		}
		return
	}
	p.drop(j.req.ID)
	r.peers.offer(p)
	r.ledger.requeue(j)
}
