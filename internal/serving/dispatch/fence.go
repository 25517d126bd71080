package dispatch

import (
	"context"
	"time"

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
		if p := l.peers[o.runner]; p != nil {
			l.adopt(o.runner, p, o.held)
			l.offer(p) // one of its slots is no longer free
		}
	}
	for _, e := range l.unread[j.req.ID] {
		l.onGroupedEnd(e, nil)
	}
	delete(l.unread, j.req.ID)
	tries := queue.Attempts{Request: j.req.ID, Epoch: l.epoch}
	l.do(func(ctx context.Context) (err error) {
		tries, err = l.fence(ctx, j.req.Ref(), tries)
		return err
	}, func(err error) { l.fenced(j, tries, err) })
}

// fence stores the attempts of a request with the epoch of t, which fences earlier
// leaders. Errors: Conflict if the request has ended; Interrupted.
func (l *leader) fence(ctx context.Context, ref queue.Ref, t queue.Attempts) (queue.Attempts, error) {
	for epoch := t.Epoch; ; t.Epoch = epoch {
		if !l.leads() {
			return t, errNotLeading
		}
		seq, err := l.requests.PublishAttempts(ctx, ref, t)
		if err == nil {
			t.Sequence = seq
			return t, nil
		}
		if fault.Is(err, fault.Conflict) {
			before := t.Sequence
			t, err = l.requests.LastAttempts(ctx, ref)
			switch {
			case fault.Is(err, fault.Conflict):
				return t, err
			case err == nil && t.Epoch > epoch:
				return t, errNotLeading
			case err == nil && t.Sequence > before:
				continue
			}
		}
		l.log.Debug("cannot fence a request yet", "request", ref.ID, "error", err)
		select {
		case <-ctx.Done():
			return t, ctx.Err()
		case <-time.After(tickEvery):
		}
	}
}

// fenced continues a job after it is fenced.
func (l *leader) fenced(j *job, t queue.Attempts, err error) {
	switch {
	case fault.Is(err, fault.Conflict): // it has ended
		if j.held() {
			l.sendCancel(j.req.ID, j.req.Tenant, "ended")
			l.release(j)
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
