package dispatch

import (
	"context"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

const (
	syncTry    = time.Second            // limit of one sync
	syncPause  = 300 * time.Millisecond // pause before the next sync
	refusePast = 200 * time.Millisecond // pause before the next offer to a runner that refused
	// reconnectGrace is the time for clients of NATS to reconnect, at most two
	// seconds apart, and to announce themselves.
	reconnectGrace = 4 * time.Second
)

// An orphan is an attempt on a runner whose request the leader has not read yet.
type orphan struct {
	runner string
	held   queue.HeldAttempt
}

// onRunner handles a changed or removed record of a runner.
func (l *leader) onRunner(name string, rec queue.Runner, gone bool) {
	p := l.peers.byName[name]
	if gone {
		if p != nil {
			l.recordGone(name, p)
		}
		return
	}
	rec.Name = name // the key identifies the runner
	if p != nil && p.rec.Instance != rec.Instance {
		l.removePeer(name, p, "its runner was restarted")
		p = nil
	}
	if p == nil {
		p = newPeer(rec)
		l.peers.byName[name] = p
		l.sync(name, p)
		return
	}
	if rec.Version < p.rec.Version {
		return // older than the runner's last message
	}
	p.absent = false
	l.update(p, rec)
}

// recordGone handles an expired or removed record of a runner. It syncs once more
// before it gives the runner up, because after an outage of NATS the records of
// healthy runners have expired as well.
func (l *leader) recordGone(name string, p *peer) {
	if p.rec.State == queue.RunnerDraining && p.idle() {
		l.removePeer(name, p, "its runner has stopped")
		return
	}
	p.absent, p.synced = true, false
	l.ledger.queue.RemoveRunner(name)
	if !p.syncing {
		l.sync(name, p)
	}
}

// runnersReturned reports whether runners have had the time to return after a loss
// of the connection.
func (l *leader) runnersReturned(now time.Time) bool {
	return now.Sub(l.cfg.Bus.Returned()) >= reconnectGrace
}

// sync requests the attempts of a runner. From its answer on, the runner obeys only
// this leader.
func (l *leader) sync(name string, p *peer) {
	p.syncing = true
	p.seq++
	question := queue.Sync{Epoch: l.epoch, Seq: p.seq, Instance: p.rec.Instance}
	var answer queue.SyncReply
	l.call(func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, syncTry)
		defer cancel()
		answer, err = bus.Call[queue.SyncReply](ctx, l.cfg.Bus, names.SyncSubject(l.name, name), question)
		return err
	}, func(err error) {
		if l.peers.byName[name] != p {
			return
		}
		p.syncing = false
		switch {
		case err != nil && p.absent && l.runnersReturned(time.Now()):
			l.removePeer(name, p, "its runner vanished")
		case err != nil:
			l.log.Debug("a runner does not answer", "runner", name, "error", err)
			p.blocked = time.Now().Add(syncPause)
		case answer.Epoch > question.Epoch:
			l.newerEpoch(answer.Epoch)
			p.blocked = time.Now().Add(syncPause)
		case question.Epoch == l.epoch:
			l.synced(name, p, answer.Runner)
		}
	})
}

// synced adopts the attempts of a runner.
func (l *leader) synced(name string, p *peer, rec queue.Runner) {
	rec.Name = name
	if rec.Instance != p.rec.Instance {
		l.removePeer(name, p, "its runner was restarted")
		p = newPeer(rec)
		l.peers.byName[name] = p
	}
	p.synced = true
	for _, s := range slices.Clone(p.slots) {
		if j := l.ledger.jobs[s.job]; s.job != "" && (j == nil || j.phase != assigning) {
			p.drop(s.job)
		}
	}
	for _, h := range rec.Held {
		l.adopt(name, p, h)
	}
	l.update(p, rec) // handles its ends
	for _, j := range l.ledger.jobs {
		if j.runner != name || j.instance != rec.Instance || p.has(j.req.ID) {
			continue
		}
		switch {
		case j.phase == uncertain: // the runner never got the job
			l.ledger.requeue(j)
		case j.phase == running && rec.Version >= j.version:
			l.ledger.attemptLost(j, "its runner dropped it")
		}
	}
}

// adopt makes an attempt on a runner the current one.
func (l *leader) adopt(name string, p *peer, h queue.HeldAttempt) {
	j := l.ledger.jobs[h.Request.ID]
	if j == nil {
		if !l.stream.replayed {
			l.orphans[h.Request.ID] = orphan{name, h}
			return
		}
		// The request has ended, but its runner does not know.
		l.log.Info("stopping an attempt of a request that has ended", "request", h.Request.ID, "runner", name)
		l.sendCancel(h.Request.ID, h.Request.Tenant, "ended")
		return
	}
	switch j.phase {
	case fencing, queued:
		l.ledger.queue.Remove(j.req.ID)
		j.tries++
	case uncertain, running, assigning:
		if !j.is(h.Epoch, h.Attempt) {
			return // another attempt is current; frames of this one are dropped
		}
		if j.phase != running {
			j.tries++
		}
	case ending, retrying:
		return
	}
	j.phase = running
	j.epoch, j.attempt, j.runner, j.instance, j.group = h.Epoch, h.Attempt, name, p.rec.Instance, p.group().Name
	j.version, j.started, j.text = p.rec.Version, h.Started, j.text || h.Text
	p.accepted(j)
	if j.cancelled {
		l.sendCancel(j.req.ID, j.req.Tenant, "cancelled")
	}
}

// update applies a newer record of a runner.
func (l *leader) update(p *peer, rec queue.Runner) {
	p.setRecord(rec)
	for _, e := range rec.Ends {
		l.ledger.onEnd(e, nil)
	}
	for _, s := range slices.Clone(p.slots) {
		j := l.ledger.jobs[s.job]
		if j == nil || j.phase != running || j.runner != rec.Name {
			continue
		}
		h, ok := holds(rec, j)
		switch {
		case ok:
			j.text = j.text || h.Text
		case rec.Version >= j.version:
			p.drop(s.job)
			l.ledger.attemptLost(j, "its runner dropped it")
		}
	}
	l.peers.offer(p)
}

// removePeer removes a runner, and ends its attempts.
func (l *leader) removePeer(name string, p *peer, why string) {
	l.log.Info("a runner is gone", "runner", name, "reason", why)
	group := p.group().Name
	l.peers.remove(name)
	for _, e := range p.rec.Ends {
		l.ledger.onGroupedEnd(groupedEnd{e, group}, nil)
	}
	for id, o := range l.orphans {
		if o.runner == name {
			delete(l.orphans, id)
		}
	}
	for _, j := range l.ledger.jobs {
		if j.held() && j.runner == name && j.instance == p.rec.Instance {
			l.ledger.attemptLost(j, why)
		}
	}
	// Attempts for an earlier leader that this leader never learned.
	for _, h := range p.rec.Held {
		l.ledger.onGroupedEnd(groupedEnd{lostEnd(name, h, why), group}, nil)
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

// failUnresponsive ends an attempt at the next job if a runner that does not answer
// this leader holds it for an earlier one. It reports whether there was one.
func (l *leader) failUnresponsive(j *job) bool {
	if j.known.Sequence == 0 {
		return false // without an earlier leader
	}
	for name, p := range l.peers.byName {
		for _, h := range p.rec.Held {
			try := queue.AttemptID{Epoch: h.Epoch, Attempt: h.Attempt}
			if !p.synced && h.Request.ID == j.req.ID && !h.Text && try.After(j.known.UpTo) {
				j.charged = true // it was removed from the queue
				l.ledger.onEnd(lostEnd(name, h, "its runner does not answer"), nil)
				return true
			}
		}
	}
	return false
}

// setEpoch starts a new epoch while the lease is held, and syncs with all runners.
func (l *leader) setEpoch(epoch uint64) {
	if epoch == l.epoch {
		return
	}
	l.log.Warn("leading by a newer epoch", "new", epoch)
	l.epoch = epoch
	for _, p := range l.peers.byName {
		p.synced, p.seq = false, 0
		l.peers.offer(p)
	}
}

// onReport handles a runner's report of the end of an attempt and of its status.
func (l *leader) onReport(r queue.EndReport, reply func(queue.Ack)) {
	p := l.peers.byName[r.Runner]
	if p != nil {
		p.setStatus(r.Status)
	}
	l.ledger.onEnd(r.AttemptEnd, reply)
	if p != nil && l.peers.byName[r.Runner] == p {
		l.peers.offer(p)
	}
}
