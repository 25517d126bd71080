package dispatch

import "time"

// replayPatience limits how long a new leader waits for the syncs of all known
// runners before it assigns jobs to synced ones.
const replayPatience = 2 * time.Second

// mayAssign reports whether jobs may be assigned. A leader first syncs with the
// runners, or it could assign a request twice.
func (l *leader) mayAssign(now time.Time) bool {
	if !l.stream.replayed {
		return false
	}
	if back := l.cfg.Bus.Returned(); l.began.Sub(back) < reconnectGrace && !l.runnersReturned(now) {
		return false // runners with requests may not have returned yet
	}
	if now.Sub(l.began) > replayPatience {
		return true
	}
	return l.peers.synced()
}

// schedule assigns as many jobs as possible.
func (l *leader) schedule(now time.Time) {
	// A suspended process must not act on a lost lease when it resumes.
	if l.ledger.queue.Len() == 0 || !l.leads() || !l.cfg.Bus.Connected() || !l.mayAssign(now) {
		return
	}
	for {
		next, to, ok := l.ledger.queue.Next(now)
		if !ok {
			return
		}
		if j := l.ledger.jobs[next.ID]; !l.failUnresponsive(j) {
			l.assign(j, l.peers.byName[to.Runner], to.Number)
		}
	}
}

// onTick does periodic work.
func (l *leader) onTick(now time.Time) {
	for name, p := range l.peers.byName {
		for _, s := range p.slots {
			if j := l.ledger.jobs[s.job]; j != nil && j.cancelled && j.phase == running {
				l.sendCancel(j.req.ID, j.req.Tenant, "again") // the runner may have missed it
			}
		}
		if now.Before(p.blocked) {
			continue
		}
		if (!p.synced || p.absent) && !p.syncing {
			l.sync(name, p)
			continue
		}
		l.peers.offer(p)
	}
	l.ledger.earlyCancels.forget(now.Add(-time.Minute))
	l.endLost(now)
	l.positions.send(now)
	l.stream.purge(now)
	l.setGauges(l.gauges())
	if len(l.ledger.jobs) > 0 || len(l.peers.byName) > 0 || l.hasRunners() || !l.stream.replayed {
		l.lastActive = now
		l.wanted.Store(false)
	}
	if now.Sub(l.lastActive) >= l.cfg.IdleAfter {
		l.err = errIdle
	}
}
