package dispatch

import (
	"context"
	"fmt"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// retry requeues a request after it has stored the failed attempt, so that later
// leaders count it.
func (l *ledger) retry(j *job) {
	l.queue.Remove(j.req.ID)
	j.phase = retrying
	l.chargeActual(j, 0)
	j.whenFenced(func() {
		t := j.known
		t.Request, t.Epoch = j.req.ID, l.epoch
		l.do(func(ctx context.Context) (err error) {
			t.Sequence, err = l.records.storeAttempts(ctx, j.req.Ref(), t)
			return err
		}, func(err error) { l.attemptsStored(j, t, err) })
	})
}

// attemptsStored continues a job when its failed attempt is stored.
func (l *ledger) attemptsStored(j *job, t queue.Attempts, err error) {
	switch {
	case fault.Is(err, fault.Conflict):
		l.err = fmt.Errorf("another leads: %w", err)
		return
	case err != nil:
		return // the leadership has ended
	}
	j.known.Sequence = t.Sequence
	j.acknowledge()
	l.enqueue(j)
}
