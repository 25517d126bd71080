package dispatch

import "github.com/gorizond/koldun/internal/serving/queue"

// onEnd handles what a runner says of the end of an attempt. It may speak only of its own:
// a runner reads what strangers send, and must not end the requests of others. reply may
// be nil.
func (l *ledger) onEnd(p *peer, e queue.AttemptEnd, reply func(queue.Ack)) {
	if e.Runner != p.rec.Name {
		l.log.Warn("a runner reports the end of an attempt of another one", "request", e.Request, "runner", p.rec.Name, "other", e.Runner)
		if reply != nil {
			reply(queue.Ack{OK: true, Reason: "another runner's"})
		}
		return
	}
	l.onGroupedEnd(p.ended(e), reply)
}

// onGroupedEnd handles the end of an attempt. reply may be nil; it is called only when
// the consequence of the end is stored.
func (l *ledger) onGroupedEnd(e groupedEnd, reply func(queue.Ack)) {
	if reply == nil {
		reply = func(queue.Ack) {}
	}
	j := l.jobs[e.Request]
	switch {
	case j == nil && l.stream.replayed: // it has ended
		reply(queue.Ack{OK: true, Reason: "unknown"})
	case j == nil:
		l.unread[e.Request] = append(l.unread[e.Request], e)
		reply(queue.Ack{Reason: "not read yet"})
	case j.phase == ending, j.phase == retrying:
		j.acks = append(j.acks, reply)
	case j.is(e.Epoch, e.Attempt) && !j.isOn(e.Runner, e.instance):
		reply(queue.Ack{OK: true, Reason: "another runner has it"})
	case j.is(e.Epoch, e.Attempt):
		l.peers.release(j)
		if j.phase != running {
			l.metrics.wait.Observe(max(e.Started.Sub(j.req.Created), 0).Seconds())
		}
		if e.Error == nil {
			l.positions.observe(e.Ended.Sub(e.Started))
		}
		j.acks = append(j.acks, reply)
		l.conclude(j, j.attemptEnded(e.AttemptEnd, &l.cfg))
	case j.unfenced && j.phase == fencing:
		j.whenFenced(func() { l.onGroupedEnd(e, reply) })
	case j.phase == queued, j.phase == fencing:
		l.untrackedEnd(j, e, reply)
	default:
		reply(queue.Ack{OK: true, Reason: "another attempt is current"})
	}
}

// untrackedEnd handles the end of an attempt of an earlier leader.
func (l *ledger) untrackedEnd(j *job, e groupedEnd, reply func(queue.Ack)) {
	c, ok := j.untrackedEnd(e, &l.cfg)
	if !ok {
		reply(queue.Ack{OK: true, Reason: "tried again"})
		return
	}
	j.acks = append(j.acks, reply)
	l.conclude(j, c)
}

// attemptLost ends the current attempt of a job whose runner is gone.
func (l *ledger) attemptLost(j *job, why string) {
	l.conclude(j, j.attemptLost(why, &l.cfg))
}

// conclude ends a request, or tries it again.
func (l *ledger) conclude(j *job, c consequence) {
	if c.state != "" {
		l.finish(j, c.state, c.failure, c.end)
		return
	}
	l.log.Info("retrying on another runner", "request", j.req.ID, "tries", j.tries, "reason", c.why)
	l.metrics.retries.Inc()
	l.retry(j)
}

// onFirstToken handles the first token of an attempt.
func (l *ledger) onFirstToken(m queue.FirstToken) {
	j := l.jobs[m.Request]
	if j == nil || !j.is(m.Epoch, m.Attempt) || m.Runner != j.runner {
		return
	}
	if m.Instance == j.instance || m.Instance == "" { // older runners do not name it
		j.text = true
	}
}
