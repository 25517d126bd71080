package dispatch

import (
	"context"
	"log/slog"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// offerTry limits the first attempt to store an outcome.
const offerTry = 2 * time.Second

// finish ends a job: it stores the outcome, sends the final frame if the runner
// has not, and deletes the message. If this process ends in between, the next
// leader continues.
func (l *ledger) finish(j *job, state queue.State, failure *queue.Failure, e *queue.AttemptEnd) {
	if j.phase == ending {
		return
	}
	l.queue.Remove(j.req.ID)
	j.phase = ending
	tokens := 0
	if e != nil {
		tokens = e.Usage.PromptTokens + e.Usage.CompletionTokens
	}
	l.chargeActual(j, tokens)
	j.whenFenced(func() {
		o := j.outcome(l.session, state, failure, e)
		if j.poison || l.offered >= maxParallel || !l.offerOutcome(j, o) {
			l.storeOutcome(j, o)
		}
	})
}

// offerOutcome makes one asynchronous attempt to store an outcome, which nearly
// always succeeds, and reports whether it was made. If the attempt fails,
// storeOutcome follows.
func (l *ledger) offerOutcome(j *job, o queue.Outcome) bool {
	left := time.Until(*l.until.Load())
	if !l.leads() || !l.cfg.Bus.Connected() {
		return false
	}
	err := l.requests.OfferOutcome(o, j.known.Sequence, min(left, offerTry), func(err error) {
		l.post(func() {
			l.offered--
			if err != nil {
				l.storeOutcome(j, o)
				return
			}
			l.recorded(j, o, nil)
		})
	})
	if err != nil {
		return false
	}
	l.offered++
	return true
}

// storeOutcome stores an outcome, retrying until the leadership ends. Before that it
// stores a dead letter if too many runners have failed the request.
func (l *ledger) storeOutcome(j *job, o queue.Outcome) {
	poison, raw, after, epoch := j.poison, j.raw, j.known.Sequence, l.epoch
	l.do(func(ctx context.Context) error {
		if poison {
			// First, because a leader that ends in between would leave none.
			o.Dead = l.records.storeDeadLetter(ctx, raw, o)
		}
		err := l.records.record(ctx, o, after, epoch)
		if o.Dead && fault.Is(err, fault.Conflict) {
			l.records.deleteDeadLetter(ctx, j.req.Ref())
		}
		return err
	}, func(err error) { l.recorded(j, o, err) })
}

// recorded continues when the outcome is stored, by this leader or another.
func (l *ledger) recorded(j *job, o queue.Outcome, err error) {
	switch {
	case fault.Is(err, fault.Conflict):
		// The other outcome counts. Followers of the request find it.
		l.log.Warn("the request had ended already", "request", o.Request)
	case err != nil:
		// The message stays, so that the next leader retries.
		l.log.Error("cannot record an outcome", "request", o.Request, "error", err)
		return
	default:
		l.metrics.ended(o)
		l.log.LogAttrs(context.Background(), slog.LevelInfo, "request ended",
			slog.String("request", o.Request), slog.String("state", string(o.State)), slog.Int("attempts", o.Attempts),
			slog.Int64("queueMs", msBetween(o.Created, o.Started)), slog.Int64("ms", msBetween(o.Created, o.Ended)),
			slog.Int("tokens", o.Usage.CompletionTokens))
		l.sendEnd(j, o)
	}
	j.acknowledge()
	l.forget(j)
}

// sendEnd sends the final frame of a request if no runner has sent it.
func (l *ledger) sendEnd(j *job, o queue.Outcome) {
	if o.State == queue.Completed {
		return
	}
	f := queue.Frame{Request: o.Request, Epoch: l.epoch, Attempt: j.number, Seq: -1, Kind: queue.FrameError, Error: o.Error}
	if err := l.requests.PublishFrame(l.session, f); err != nil {
		l.log.Warn("cannot publish the end of a request", "request", o.Request, "error", err)
	}
}

// forget schedules the deletion of the message of an ended request.
func (l *ledger) forget(j *job) {
	delete(l.jobs, j.req.ID)
	l.stream.end(j)
}

func msBetween(from, to time.Time) int64 {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return to.Sub(from).Milliseconds()
}
