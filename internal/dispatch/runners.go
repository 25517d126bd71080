package dispatch

import (
	"context"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue"
)

const (
	syncTry    = time.Second            // one question to a runner
	syncPause  = 300 * time.Millisecond // until it is asked again
	refusePast = 200 * time.Millisecond // until a runner that refused is offered work again
	// settleTime is how long clients of NATS may take to connect again, at
	// most two seconds apart, and to say that they are there.
	settleTime = 4 * time.Second
)

// An orphan is an attempt that a runner holds of a request that the leader has
// not read yet.
type orphan struct {
	runner string
	held   queue.HeldAttempt
}

// onRunner hears that a runner's record has changed or is gone.
func (l *leader) onRunner(name string, rec queue.Runner, gone bool) {
	p := l.peers[name]
	if gone {
		if p != nil {
			l.vanished(name, p)
		}
		return
	}
	rec.Name = name // the key is what tells runners apart
	if p != nil && p.rec.Instance != rec.Instance {
		l.lostPeer(name, p, "its runner was restarted")
		p = nil
	}
	if p == nil {
		p = newPeer(rec)
		l.peers[name] = p
		l.sync(name, p)
		return
	}
	if rec.Version < p.rec.Version {
		return // overtaken by what the runner has said itself
	}
	p.absent = false
	l.update(p, rec)
}

// vanished hears that a runner's record has expired or was removed. It is asked
// once more before it is given up: after an outage of NATS the records of
// runners that are alive and well have expired, too.
func (l *leader) vanished(name string, p *peer) {
	if p.rec.State == queue.RunnerDraining && p.idle() {
		l.lostPeer(name, p, "its runner has stopped")
		return
	}
	p.absent, p.synced = true, false
	l.queue.RemoveRunner(name)
	if !p.syncing {
		l.sync(name, p)
	}
}

// settled reports whether whoever is alive has had the time to come back after
// the connection was lost.
func (l *leader) settled(now time.Time) bool {
	return now.Sub(l.m.reconnected()) >= settleTime
}

// sync asks a runner what it holds. From its answer on it obeys this leader only.
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
		if l.peers[name] != p {
			return
		}
		p.syncing = false
		switch {
		case err != nil && p.absent && l.settled(time.Now()):
			l.lostPeer(name, p, "its runner vanished")
		case err != nil:
			l.log.Debug("a runner does not answer", "runner", name, "error", err)
			p.blocked = time.Now().Add(syncPause)
		case answer.Epoch > question.Epoch:
			l.challenged(answer.Epoch)
			p.blocked = time.Now().Add(syncPause)
		case question.Epoch == l.epoch:
			l.synced(name, p, answer.Runner)
		}
	})
}

// synced takes over what a runner holds.
func (l *leader) synced(name string, p *peer, rec queue.Runner) {
	rec.Name = name
	if rec.Instance != p.rec.Instance {
		l.lostPeer(name, p, "its runner was restarted")
		p = newPeer(rec)
		l.peers[name] = p
	}
	p.synced = true
	for _, s := range slices.Clone(p.slots) {
		if j := l.jobs[s.job]; s.job != "" && (j == nil || j.phase != assigning) {
			p.drop(s.job)
		}
	}
	for _, h := range rec.Held {
		l.adopt(name, p, h)
	}
	l.update(p, rec) // hears its ends
	for _, j := range l.jobs {
		if j.runner != name || j.instance != rec.Instance || p.has(j.req.ID) {
			continue
		}
		switch {
		case j.phase == uncertain: // it never got it
			l.requeue(j)
		case j.phase == running && rec.Version >= j.version:
			l.lost(j, "its runner dropped it")
		}
	}
}

// adopt makes an attempt that a runner holds the one at hand.
func (l *leader) adopt(name string, p *peer, h queue.HeldAttempt) {
	j := l.jobs[h.Request.ID]
	if j == nil {
		if !l.replayed {
			l.orphans[h.Request.ID] = orphan{name, h}
			return
		}
		// The request has ended without its runner knowing.
		l.log.Info("stopping an attempt of a request that has ended", "request", h.Request.ID, "runner", name)
		l.tellCancel(h.Request.ID, h.Request.Tenant, "ended")
		return
	}
	switch j.phase {
	case checking, queued:
		l.queue.Remove(j.req.ID)
		j.tries++
	case uncertain, running, assigning:
		if !j.is(h.Epoch, h.Attempt) {
			return // another attempt is at hand; frames of this one are dropped
		}
		if j.phase != running {
			j.tries++
		}
	case ending, noting:
		return
	}
	j.phase = running
	j.epoch, j.attempt, j.runner, j.instance = h.Epoch, h.Attempt, name, p.rec.Instance
	j.version, j.started, j.text = p.rec.Version, h.Started, j.text || h.Text
	p.accepted(j)
	if j.cancelled {
		l.tellCancel(j.req.ID, j.req.Tenant, "cancelled")
	}
}

// update takes over a newer record of a runner.
func (l *leader) update(p *peer, rec queue.Runner) {
	p.setRecord(rec)
	for _, e := range rec.Ends {
		l.onEnd(e, nil)
	}
	for _, s := range slices.Clone(p.slots) {
		j := l.jobs[s.job]
		if j == nil || j.phase != running || j.runner != rec.Name {
			continue
		}
		h, ok := holds(rec, j)
		switch {
		case ok:
			j.text = j.text || h.Text
		case rec.Version >= j.version:
			p.drop(s.job)
			l.lost(j, "its runner dropped it")
		}
	}
	l.offer(p)
}

// lostPeer forgets a runner and what it held.
func (l *leader) lostPeer(name string, p *peer, why string) {
	l.log.Info("a runner is gone", "runner", name, "reason", why)
	delete(l.peers, name)
	l.queue.RemoveRunner(name)
	for _, e := range p.rec.Ends {
		l.onEnd(e, nil)
	}
	for id, o := range l.orphans {
		if o.runner == name {
			delete(l.orphans, id)
		}
	}
	for _, j := range l.jobs {
		if j.held() && j.runner == name && j.instance == p.rec.Instance {
			l.lost(j, why)
		}
	}
	// What it held for an earlier leader, and never told this one.
	for _, h := range p.rec.Held {
		l.onEnd(lostEnd(name, h, why), nil)
	}
}

// lostEnd is the end of an attempt of which its runner will not tell.
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

// silent counts an attempt at a job whose turn it is, if a runner holds it for
// an earlier leader and does not answer this one. It reports whether there was one.
func (l *leader) silent(j *job) bool {
	if j.known.Sequence == 0 {
		return false // there was no earlier leader
	}
	for name, p := range l.peers {
		for _, h := range p.rec.Held {
			try := queue.AttemptID{Epoch: h.Epoch, Attempt: h.Attempt}
			if !p.synced && h.Request.ID == j.req.ID && !h.Text && try.After(j.known.UpTo) {
				j.charged = true // it was taken out of the queue
				l.onEnd(lostEnd(name, h, "its runner does not answer"), nil)
				return true
			}
		}
	}
	return false
}

// challenged hears that a runner obeys a newer leader than this one. If it is
// so, the lease is lost and its renewal fails; if the lease is still ours, the
// epochs were lost with the bucket, and ours has to become the newest.
func (l *leader) challenged(epoch uint64) {
	l.challenge = max(l.challenge, epoch+1)
}

// setEpoch begins a new epoch within the tenure: all runners are asked again.
func (l *leader) setEpoch(epoch uint64) {
	if epoch == l.epoch {
		return
	}
	l.log.Warn("leading by a newer epoch", "new", epoch)
	l.epoch = epoch
	for _, p := range l.peers {
		p.synced, p.seq = false, 0
		l.queue.RemoveRunner(p.rec.Name)
	}
}
