package dispatch

import (
	"context"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// fence fences a job that an earlier leader may know: from then on the earlier leader can
// record nothing for it. It also finds out whether the request has ended, and which attempts
// it had.
func (l *ledger) fence(j *job) {
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
func (l *ledger) fenced(j *job, t queue.Attempts, err error) {
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
