package dispatch

import (
	"context"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// takeOver fences a request that an earlier leader may know: from then on the
// earlier leader can record nothing for it. It also finds out whether the request
// has ended, and which attempts it had.
func (l *leader) takeOver(j *job) {
	j.phase = fencing
	j.unfenced = true
	if o, ok := l.orphans[j.req.ID]; ok { // a runner holds it
		delete(l.orphans, j.req.ID)
		if p := l.peers.byName[o.runner]; p != nil {
			l.adopt(o.runner, p, o.held)
			l.peers.offer(p) // one of its slots is no longer free
		}
	}
	for _, e := range l.unread[j.req.ID] {
		l.onGroupedEnd(e, nil)
	}
	delete(l.unread, j.req.ID)
	tries := queue.Attempts{Request: j.req.ID, Epoch: l.epoch}
	l.do(func(ctx context.Context) (err error) {
		tries, err = l.records.fence(ctx, j.req.Ref(), tries)
		return err
	}, func(err error) { l.fenced(j, tries, err) })
}

// fenced continues a job after it is fenced.
func (l *leader) fenced(j *job, t queue.Attempts, err error) {
	switch {
	case fault.Is(err, fault.Conflict): // it has ended
		if j.held() {
			l.sendCancel(j.req.ID, j.req.Tenant, "ended")
			l.peers.release(j)
		}
		l.chargeActual(j, 0)
		j.acknowledge()
		l.forget(j)
		return
	case err != nil:
		return // the leadership has ended
	}
	j.unfenced = false
	j.addEarlier(t)
	waiting := j.onFenced
	j.onFenced = nil
	for _, f := range waiting {
		f()
	}
	if j.phase == fencing {
		l.admit(j)
	}
}

// whenFenced calls f now, or as soon as the job is fenced.
func (j *job) whenFenced(f func()) {
	if j.unfenced {
		j.onFenced = append(j.onFenced, f)
		return
	}
	f()
}

// addEarlier adds the stored attempts of earlier leaders.
func (j *job) addEarlier(t queue.Attempts) {
	j.tries += t.Failed
	j.known.Failed += t.Failed
	j.known.Reasons = append(t.Reasons, j.known.Reasons...)
	j.known.Runners = append(t.Runners, j.known.Runners...)
	j.known.Groups = append(t.Groups, j.known.Groups...)
	j.known.Sequence = t.Sequence
	if t.UpTo.After(j.known.UpTo) {
		j.known.UpTo = t.UpTo
	}
}
