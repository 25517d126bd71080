package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// retry requeues a request after it has stored the failed attempt, so that later
// leaders count it.
func (l *leader) retry(j *job) {
	l.queue.Remove(j.req.ID)
	j.phase = retrying
	l.chargeActual(j, 0)
	j.whenFenced(func() {
		t := j.known
		t.Request, t.Epoch = j.req.ID, l.epoch
		l.do(func(ctx context.Context) (err error) {
			t.Sequence, err = l.storeAttempts(ctx, j.req.Ref(), t)
			return err
		}, func(err error) { l.attemptsStored(j, t, err) })
	})
}

// attemptsStored continues a job when its failed attempt is stored.
func (l *leader) attemptsStored(j *job, t queue.Attempts, err error) {
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

// storeAttempts stores the attempts of a request, and retries until the leadership ends.
func (l *leader) storeAttempts(ctx context.Context, ref queue.Ref, t queue.Attempts) (uint64, error) {
	for {
		if !l.leads() {
			return 0, errNotLeading
		}
		seq, err := l.requests.PublishAttempts(ctx, ref, t)
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
