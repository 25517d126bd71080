package dispatch

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// leaderOf returns a leader that does not run.
func leaderOf(cfg Config) *leader {
	cfg.AffinityWait = time.Second
	t := &term{process: &process{cfg: cfg, metrics: newMetrics()}, session: "s", log: slog.New(slog.DiscardHandler)}
	return newLeader(&loop{term: t}, newSession("s"))
}

// unfencedLeader returns a leader with one job. The job is not fenced yet, so that
// the leader decides about its ends, but stores nothing.
func unfencedLeader(j *job) *leader {
	j.req.ID, j.unfenced = "req_1", true
	l := leaderOf(Config{MaxAttempts: 3, ServerPatience: time.Minute})
	l.ledger.jobs["req_1"], l.stream.replayed = j, true
	return l
}

// A decision is the consequence of the end of an attempt.
type decision struct {
	Phase  phase
	Tries  int
	Failed int    // failed attempts in the record
	Poison bool   // the request becomes a dead letter
	Acks   int    // replies that wait until the consequence is stored
	Reply  string // reason of an immediate reply
}

func decisionOf(j *job, ack *queue.Ack) decision {
	d := decision{Phase: j.phase, Tries: j.tries, Failed: j.known.Failed, Poison: j.poison, Acks: len(j.acks)}
	if ack != nil {
		d.Reply = ack.Reason
	}
	return d
}

func failureOf(code string) *queue.Failure { return &queue.Failure{Code: code, Message: "why"} }

func TestOnEnd(t *testing.T) {
	first := time.Unix(1000, 0)
	current := job{phase: running, attempt: attempt{epoch: 2, number: 1, runner: "r"}, tries: 1}
	with := func(change func(j *job)) job { j := current; change(&j); return j }
	end := func(code string) queue.AttemptEnd {
		return queue.AttemptEnd{Request: "req_1", Epoch: 2, Attempt: 1, Runner: "r", Error: failureOf(code)}
	}
	busyFor := func(seconds int) queue.AttemptEnd {
		e := end(queue.CodeBusy)
		e.Error.RetryAfter = seconds
		return e
	}
	for name, c := range map[string]struct {
		job  job
		end  queue.AttemptEnd
		want decision
	}{
		"Completed":        {current, queue.AttemptEnd{Request: "req_1", Epoch: 2, Attempt: 1, Runner: "r"}, decision{Phase: ending, Tries: 1, Acks: 1}},
		"Cancelled":        {current, end(queue.CodeCancelled), decision{Phase: ending, Tries: 1, Acks: 1}},
		"Invalid":          {current, end(queue.CodeInvalidRequest), decision{Phase: ending, Tries: 1, Acks: 1}},
		"EngineFailed":     {current, end(queue.CodeEngineFailed), decision{Phase: retrying, Tries: 1, Failed: 1, Acks: 1}},
		"HandedBack":       {current, end(queue.CodeHandedBack), decision{Phase: retrying, Acks: 1}},
		"ServerBusy":       {current, end(queue.CodeBusy), decision{Phase: retrying, Acks: 1}},
		"ServerBusyLong":   {current, busyFor(3600), decision{Phase: ending, Tries: 1, Acks: 1}},
		"ServerBusyText":   {with(func(j *job) { j.text = true }), busyFor(3600), decision{Phase: ending, Tries: 1, Acks: 1}},
		"FailedWithText":   {with(func(j *job) { j.text = true }), end(queue.CodeEngineFailed), decision{Phase: ending, Tries: 1, Failed: 1, Acks: 1}},
		"FailedTooOften":   {with(func(j *job) { j.tries = 3 }), end(queue.CodeEngineFailed), decision{Phase: ending, Tries: 3, Failed: 1, Poison: true, Acks: 1}},
		"FailedCancelled":  {with(func(j *job) { j.cancelled = true }), end(queue.CodeEngineFailed), decision{Phase: ending, Tries: 1, Failed: 1, Acks: 1}},
		"NotAcceptedYet":   {with(func(j *job) { j.phase, j.tries = assigning, 0 }), end(queue.CodeEngineFailed), decision{Phase: retrying, Tries: 1, Failed: 1, Acks: 1}},
		"OfAnotherAttempt": {current, queue.AttemptEnd{Request: "req_1", Epoch: 1, Attempt: 1, Runner: "r"}, decision{Phase: running, Tries: 1, Reply: "another attempt is current"}},
		"WhileEnding":      {with(func(j *job) { j.phase = ending }), end(queue.CodeEngineFailed), decision{Phase: ending, Tries: 1, Acks: 1}},
		"WhileFencing":     {with(func(j *job) { j.phase = fencing }), end(queue.CodeEngineFailed), decision{Phase: fencing, Tries: 1}},
		"FirstTokenIsText": {current, queue.AttemptEnd{Request: "req_1", Epoch: 2, Attempt: 1, Runner: "r", FirstToken: first, Error: failureOf(queue.CodeHandedBack)}, decision{Phase: ending, Tries: 1, Acks: 1}},
		"OfAnotherRequest": {current, queue.AttemptEnd{Request: "req_2", Epoch: 2, Attempt: 1, Runner: "r"}, decision{Phase: running, Tries: 1, Reply: "unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			j := c.job
			l := unfencedLeader(&j)
			var ack *queue.Ack
			l.ledger.onEnd(newPeer(queue.Runner{Name: "r"}), c.end, func(a queue.Ack) { ack = &a })
			if d := cmp.Diff(c.want, decisionOf(&j, ack)); d != "" {
				t.Error(d)
			}
		})
	}
}

// The record of a request does not grow while its runners hand it back again and
// again; each failed attempt stays in it.
func TestHandedBackAgain(t *testing.T) {
	j := job{attempt: attempt{epoch: 2}}
	l := unfencedLeader(&j)
	for i := range 9 {
		code := queue.CodeHandedBack
		if i >= 6 && i < 8 {
			code = queue.CodeEngineFailed
		}
		j.phase, j.number, j.tries, j.runner = running, i, 1, []string{"a", "b"}[i%2]
		end := queue.AttemptEnd{Request: "req_1", Epoch: 2, Attempt: i, Runner: j.runner, Error: failureOf(code)}
		l.ledger.onEnd(newPeer(queue.Runner{Name: j.runner}), end, nil)
	}
	if d := cmp.Diff([]string{"a", "b", "a", "b"}, j.known.Runners); d != "" {
		t.Error(d)
	}
	if len(j.known.Reasons) != 4 || len(j.known.Groups) != 4 {
		t.Errorf("reasons %q, groups %q", j.known.Reasons, j.known.Groups)
	}
}

func TestUntrackedEnd(t *testing.T) {
	first := time.Unix(1000, 0)
	known := queue.AttemptID{Epoch: 1, Attempt: 2} // the last attempt that is recorded as failed
	for name, c := range map[string]struct {
		attempt int
		first   time.Time
		failure *queue.Failure
		want    decision
	}{
		"Completed":            {3, first, nil, decision{Phase: ending, Tries: 1, Acks: 1}},
		"Cancelled":            {3, first, failureOf(queue.CodeCancelled), decision{Phase: ending, Tries: 1, Acks: 1}},
		"Invalid":              {3, time.Time{}, failureOf(queue.CodeInvalidRequest), decision{Phase: ending, Tries: 1, Acks: 1}},
		"Failed":               {3, time.Time{}, failureOf(queue.CodeEngineFailed), decision{Phase: retrying, Tries: 1, Failed: 1, Acks: 1}},
		"FailedWithText":       {3, first, failureOf(queue.CodeEngineFailed), decision{Phase: ending, Tries: 1, Acks: 1}},
		"FailedAlreadyCounted": {2, time.Time{}, failureOf(queue.CodeEngineFailed), decision{Phase: queued, Reply: "tried again"}},
		"HandedBack":           {3, time.Time{}, failureOf(queue.CodeHandedBack), decision{Phase: queued, Reply: "tried again"}},
		"ServerBusy":           {3, time.Time{}, failureOf(queue.CodeBusy), decision{Phase: queued, Reply: "tried again"}},
		"HandedBackWithText":   {3, first, failureOf(queue.CodeHandedBack), decision{Phase: ending, Tries: 1, Acks: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			j := job{phase: queued, known: queue.Attempts{UpTo: known}}
			l := unfencedLeader(&j)
			var ack *queue.Ack
			e := queue.AttemptEnd{Request: "req_1", Epoch: 1, Attempt: c.attempt, FirstToken: c.first, Error: c.failure}
			l.ledger.untrackedEnd(&j, groupedEnd{AttemptEnd: e, group: "g"}, func(a queue.Ack) { ack = &a })
			if d := cmp.Diff(c.want, decisionOf(&j, ack)); d != "" {
				t.Error(d)
			}
		})
	}
}

// Attempts that end because their runner is gone count for its group, also if an
// earlier leader assigned them.
func TestEndsOfARemovedRunnerKeepItsGroup(t *testing.T) {
	end := queue.AttemptEnd{Request: "req_1", Epoch: 1, Attempt: 1, Runner: "r", Error: failureOf(queue.CodeEngineFailed)}
	for name, rec := range map[string]queue.Runner{
		"ReportedEnd": {Name: "r", Ends: []queue.AttemptEnd{end}},
		"Held":        {Name: "r", Held: []queue.HeldAttempt{{Request: queue.Ref{ID: "req_1"}, Epoch: 1, Attempt: 1}}},
	} {
		for _, from := range []phase{queued, fencing} {
			t.Run(fmt.Sprint(name, " ", from), func(t *testing.T) {
				j := job{phase: from}
				l := unfencedLeader(&j)
				rec.Traffic = &queue.Traffic{Group: "canary", Weight: 1}
				p := newPeer(rec)
				l.peers.byName["r"] = p
				l.roster.removePeer("r", p, "its runner vanished")
				if from == fencing { // the end waits until the job is fenced
					j.phase = queued
					for _, f := range j.onFenced {
						f()
					}
				}
				if diff := cmp.Diff([]string{"canary"}, j.known.Groups); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}
