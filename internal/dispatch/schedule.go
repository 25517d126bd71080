package dispatch

import "time"

// replayPatience is how long a new leader waits for the runners it knows of to
// say what they hold, before it gives work to those that did.
const replayPatience = 2 * time.Second

// open reports whether work may be given out: a leader first learns what the
// runners hold, or it might give the same request out twice.
func (l *leader) open(now time.Time) bool {
	if !l.replayed {
		return false
	}
	if back := l.m.reconnected(); l.began.Sub(back) < settleTime && !l.settled(now) {
		return false // runners that hold requests may not have come back yet
	}
	if now.Sub(l.began) > replayPatience {
		return true
	}
	for _, p := range l.peers {
		if !p.synced {
			return false
		}
	}
	return true
}

// schedule gives out all the work that can be.
func (l *leader) schedule(now time.Time) {
	// A process that was stopped and goes on must not act on a lease it has lost.
	if l.queue.Len() == 0 || !l.leads() || !l.cfg.Bus.Connected() || !l.open(now) {
		return
	}
	for {
		next, to, ok := l.queue.Next(now)
		if !ok {
			return
		}
		if j := l.jobs[next.ID]; !l.silent(j) {
			l.assign(j, l.peers[to.Runner], to.Number)
		}
	}
}

// onTick does what is due from time to time.
func (l *leader) onTick(now time.Time) {
	for name, p := range l.peers {
		for _, s := range p.slots {
			if j := l.jobs[s.job]; j != nil && j.cancelled && j.phase == running {
				l.tellCancel(j.req.ID, j.req.Tenant, "again") // it may have been away
			}
		}
		if now.Before(p.blocked) {
			continue
		}
		if (!p.synced || p.absent) && !p.syncing {
			l.sync(name, p)
			continue
		}
		l.offer(p)
	}
	l.early.forget(now.Add(-time.Minute))
	l.notice(now)
	l.sweep(now)
	l.report(false)
	if len(l.jobs) > 0 || len(l.peers) > 0 || l.hasRunners() || !l.replayed {
		l.busyAt = now
		l.m.settle(l.session)
	}
	if now.Sub(l.busyAt) >= l.cfg.IdleAfter {
		l.err = errIdle
	}
}

// offer updates the slots of a runner in the queue.
func (l *leader) offer(p *peer) {
	p.offer(l.queue, time.Now())
}
