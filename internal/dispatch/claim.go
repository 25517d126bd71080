package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/queue"
)

// check fences a request that an earlier leader may know: from then on the
// earlier leader can record nothing for it. It also finds out whether the request
// has ended, and which attempts it had.
func (l *leader) check(j *job) {
	j.phase = checking
	j.unclaimed = true
	if o, ok := l.orphans[j.req.ID]; ok { // a runner holds it
		delete(l.orphans, j.req.ID)
		if p := l.peers[o.runner]; p != nil {
			l.adopt(o.runner, p, o.held)
		}
	}
	for _, e := range l.unread[j.req.ID] {
		l.onEnd(e, nil)
	}
	delete(l.unread, j.req.ID)
	tries := queue.Attempts{Request: j.req.ID, Epoch: l.epoch}
	l.do(func(ctx context.Context) (err error) {
		tries, err = l.claim(ctx, j.req.Ref(), tries)
		return err
	}, func(err error) { l.claimed(j, tries, err) })
}

// claim stores the attempts of a request with the epoch of t, which fences earlier
// leaders. Errors: Conflict if the request has ended; Interrupted.
func (l *leader) claim(ctx context.Context, ref queue.Ref, t queue.Attempts) (queue.Attempts, error) {
	for epoch := t.Epoch; ; t.Epoch = epoch {
		if !l.leads() {
			return t, errOver
		}
		seq, err := l.m.requests.PublishAttempts(ctx, ref, t)
		if err == nil {
			t.Sequence = seq
			return t, nil
		}
		if fault.Is(err, fault.Conflict) {
			before := t.Sequence
			t, err = l.m.requests.LastAttempts(ctx, ref)
			switch {
			case fault.Is(err, fault.Conflict):
				return t, err
			case err == nil && t.Epoch > epoch:
				return t, errOver
			case err == nil && t.Sequence > before:
				continue
			}
		}
		l.log.Debug("cannot claim a request yet", "request", ref.ID, "error", err)
		select {
		case <-ctx.Done():
			return t, ctx.Err()
		case <-time.After(tickEvery):
		}
	}
}

// claimed continues a job after its claim.
func (l *leader) claimed(j *job, t queue.Attempts, err error) {
	switch {
	case fault.Is(err, fault.Conflict): // it has ended
		if j.held() {
			l.tellCancel(j.req.ID, j.req.Tenant, "ended")
			l.release(j)
		}
		l.settle(j, 0)
		j.acknowledge()
		l.forget(j)
		return
	case err != nil:
		return // the lead is over
	}
	j.unclaimed = false
	j.learn(t)
	waiting := j.onClaim
	j.onClaim = nil
	for _, f := range waiting {
		f()
	}
	if j.phase == checking {
		l.admit(j)
	}
}

// whenClaimed calls f now, or as soon as the job is claimed.
func (j *job) whenClaimed(f func()) {
	if j.unclaimed {
		j.onClaim = append(j.onClaim, f)
		return
	}
	f()
}

// learn adds the stored attempts of earlier leaders.
func (j *job) learn(t queue.Attempts) {
	j.tries += t.Failed
	j.known.Failed += t.Failed
	j.known.Reasons = append(t.Reasons, j.known.Reasons...)
	j.known.Runners = append(t.Runners, j.known.Runners...)
	j.known.Sequence = t.Sequence
	if t.UpTo.After(j.known.UpTo) {
		j.known.UpTo = t.UpTo
	}
}

// retry requeues a request after it has stored the failed attempt, so that later
// leaders count it.
func (l *leader) retry(j *job) {
	l.queue.Remove(j.req.ID)
	j.phase = noting
	l.settle(j, 0)
	j.whenClaimed(func() {
		t := j.known
		t.Request, t.Epoch = j.req.ID, l.epoch
		l.do(func(ctx context.Context) (err error) {
			t.Sequence, err = l.note(ctx, j.req.Ref(), t)
			return err
		}, func(err error) { l.noted(j, t, err) })
	})
}

// noted continues a job when its failed attempt is stored.
func (l *leader) noted(j *job, t queue.Attempts, err error) {
	switch {
	case fault.Is(err, fault.Conflict):
		l.err = fmt.Errorf("another leads: %w", err)
		return
	case err != nil:
		return // the lead is over
	}
	j.known.Sequence = t.Sequence
	j.acknowledge()
	l.enqueue(j)
}

// note stores the attempts of a request, and retries until the lead ends.
func (l *leader) note(ctx context.Context, ref queue.Ref, t queue.Attempts) (uint64, error) {
	for {
		if !l.leads() {
			return 0, errOver
		}
		seq, err := l.m.requests.PublishAttempts(ctx, ref, t)
		if err == nil || fault.Is(err, fault.Conflict) || ctx.Err() != nil {
			return seq, err
		}
		l.log.Warn("cannot note a failed attempt yet", "request", ref.ID, "error", err)
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(tickEvery):
		}
	}
}
