package dispatch

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/queue"
)

// offerTry bounds the first try to store an outcome.
const offerTry = 2 * time.Second

// finish ends a job: its outcome is stored, then the client is told if it was
// not yet, then the message is deleted. If this process ends on the way, the
// next leader goes on.
func (l *leader) finish(j *job, state queue.State, failure *queue.Failure, e *queue.AttemptEnd) {
	if j.phase == ending {
		return
	}
	l.queue.Remove(j.req.ID)
	j.phase = ending
	tokens := 0
	if e != nil {
		tokens = e.Usage.PromptTokens + e.Usage.CompletionTokens
	}
	l.settle(j, tokens)
	j.whenClaimed(func() {
		o := l.outcome(j, state, failure, e)
		if j.poison || l.offered >= maxParallel || !l.offerOutcome(j, o) {
			l.storeOutcome(j, o)
		}
	})
}

// offerOutcome makes one try to store an outcome, which nearly always works. It
// reports whether the try was made; if it then fails, another way is gone.
func (l *leader) offerOutcome(j *job, o queue.Outcome) bool {
	left := time.Until(*l.until.Load())
	if !l.leads() || !l.cfg.Bus.Connected() {
		return false
	}
	err := l.m.requests.OfferOutcome(o, j.known.Sequence, min(left, offerTry), func(err error) {
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

// storeOutcome stores an outcome whatever it takes, and before that, if too many
// have failed the request, a dead letter.
func (l *leader) storeOutcome(j *job, o queue.Outcome) {
	poison, raw, after, epoch := j.poison, j.raw, j.known.Sequence, l.epoch
	l.do(func(ctx context.Context) error {
		if poison {
			// First, or a leader that ends on the way would leave none.
			o.Dead = l.bury(ctx, raw, o)
		}
		err := l.record(ctx, o, after, epoch)
		if o.Dead && fault.Is(err, fault.Conflict) {
			l.unbury(ctx, j.req.Ref())
		}
		return err
	}, func(err error) { l.recorded(j, o, err) })
}

// outcome is the terminal record of a job. e is nil if no attempt has told its end.
func (l *leader) outcome(j *job, state queue.State, failure *queue.Failure, e *queue.AttemptEnd) queue.Outcome {
	o := queue.Outcome{
		Request:  j.req.ID,
		Session:  l.name,
		Tenant:   j.req.Tenant,
		Model:    j.req.Model,
		State:    state,
		Priority: j.req.Priority,
		Attempts: j.tries,
		Runner:   j.runner,
		Created:  j.req.Created,
		Started:  j.started,
		Ended:    time.Now().UTC(),
		Error:    failure,
		Reasons:  j.known.Reasons,
		ReplayOf: j.req.ReplayOf,
	}
	if e != nil {
		o.First, o.Ended, o.Usage = e.FirstToken, e.Ended.UTC(), e.Usage
	}
	return o
}

// errOver ends what a leader has begun when its time is over: the next one
// decides anew.
var errOver = fault.Errorf(fault.Interrupted, "another may lead by now")

// record stores an outcome after what this leader has stored of the request.
// Without one the request has not ended, so it never gives up but with the lead;
// and a leader whose time is over stores nothing, even if it was stopped on its
// way here: who leads now has claimed the request. Errors: Conflict if the
// request has ended otherwise.
func (l *leader) record(ctx context.Context, o queue.Outcome, after, epoch uint64) error {
	ref := queue.Ref{ID: o.Request, Session: o.Session, Tenant: o.Tenant}
	for {
		until := *l.until.Load()
		if !lasts(until, time.Now()) {
			return errOver
		}
		try, cancel := context.WithDeadline(ctx, until)
		err := l.m.requests.PublishOutcome(try, o, after)
		if fault.Is(err, fault.Conflict) {
			var t queue.Attempts
			t, err = l.m.requests.LastAttempts(try, ref)
			switch {
			case err == nil && t.Epoch > epoch:
				err = errOver
			case err == nil: // of an earlier leader, or what a lagging server says
				after = t.Sequence
				err = fault.Errorf(fault.Transient, "an earlier leader has recorded something meanwhile")
			}
		}
		cancel()
		if !fault.Is(err, fault.Transient) && !fault.Is(err, fault.Quota) || ctx.Err() != nil {
			return err
		}
		l.log.Warn("cannot record an outcome yet", "request", o.Request, "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(tickEvery):
		}
	}
}

// bury keeps a request that no runner could serve, and reports whether it is
// kept. It has ended all the same.
func (l *leader) bury(ctx context.Context, raw []byte, o queue.Outcome) bool {
	if !l.leads() {
		return false
	}
	var r queue.Request
	if err := json.Unmarshal(raw, &r); err != nil { // it was decoded before
		l.log.Error("cannot keep a dead letter", "request", o.Request, "error", err)
		return false
	}
	d := queue.DeadLetter{Request: r, Reasons: o.Reasons, Attempts: o.Attempts, Failed: o.Ended}
	if err := l.m.requests.PublishDeadLetter(ctx, d); err != nil {
		l.log.Error("cannot keep a dead letter", "request", r.ID, "error", err)
		return false
	}
	l.m.metrics.dead.Inc()
	return true
}

// unbury takes a dead letter back: its request has ended otherwise.
func (l *leader) unbury(ctx context.Context, ref queue.Ref) {
	if other, err := l.m.requests.Outcome(ctx, ref); err != nil || other.Dead {
		return
	}
	_, seq, err := l.m.requests.DeadLetter(ctx, ref.ID)
	if err == nil {
		err = l.m.requests.DeleteDeadLetter(ctx, seq)
	}
	if err != nil {
		l.log.Warn("cannot take back a dead letter", "request", ref.ID, "error", err)
	}
}

// recorded goes on when the outcome is stored, by this leader or another.
func (l *leader) recorded(j *job, o queue.Outcome, err error) {
	switch {
	case fault.Is(err, fault.Conflict):
		// It has another outcome, and that one counts. Whoever follows the
		// request finds it.
		l.log.Warn("the request had ended already", "request", o.Request)
	case err != nil:
		// The message stays, so the next leader tries again.
		l.log.Error("cannot record an outcome", "request", o.Request, "error", err)
		return
	default:
		l.m.metrics.ended(o)
		l.log.LogAttrs(context.Background(), slog.LevelInfo, "request ended",
			slog.String("request", o.Request), slog.String("state", string(o.State)), slog.Int("attempts", o.Attempts),
			slog.Int64("queueMs", msBetween(o.Created, o.Started)), slog.Int64("ms", msBetween(o.Created, o.Ended)),
			slog.Int("tokens", o.Usage.CompletionTokens))
		l.tellEnd(j, o)
	}
	j.acknowledge()
	l.forget(j)
}

// tellEnd tells the client of an end that no runner has told it.
func (l *leader) tellEnd(j *job, o queue.Outcome) {
	if o.State == queue.Completed {
		return
	}
	f := queue.Frame{Request: o.Request, Epoch: l.epoch, Attempt: j.attempt, Seq: -1, Kind: queue.FrameError, Error: o.Error}
	if err := l.m.requests.PublishFrame(f); err != nil {
		l.log.Warn("cannot publish the end of a request", "request", o.Request, "error", err)
	}
}

// forget has the message of a request that has an outcome deleted.
func (l *leader) forget(j *job) {
	delete(l.jobs, j.req.ID)
	now := time.Now()
	l.ended.add(j.req.ID, now)
	l.litter.end(j.seq, now)
}

func msBetween(from, to time.Time) int64 {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return to.Sub(from).Milliseconds()
}
