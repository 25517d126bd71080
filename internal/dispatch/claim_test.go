package dispatch

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/queue"
)

// leaderOf is a leader of an epoch whose time is not up, by its own clock.
func leaderOf(m *manager, epoch uint64) *leader {
	l := &leader{session: newSession(m, "s"), cfg: m.cfg, log: slog.New(slog.DiscardHandler), epoch: epoch}
	later := time.Now().Add(time.Hour)
	l.until.Store(&later)
	return l
}

// A leader that was replaced, and does not know, records nothing of what the
// next one has claimed.
func TestDeposedLeaderRecordsNothing(t *testing.T) {
	a, b := candidates(t)
	r := queue.Request{ID: "req_1", Session: "s", Tenant: "t"}
	old, next := leaderOf(a, 1), leaderOf(b, 2)
	noted := queue.Attempts{Request: r.ID, Epoch: 1, Failed: 1, Reasons: []string{"broke"}, Runners: []string{"r1"}, UpTo: queue.AttemptID{Epoch: 1, Attempt: 1}}
	seq, err := old.note(t.Context(), r.Ref(), noted)
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := next.claim(t.Context(), r.Ref(), queue.Attempts{Request: r.ID, Epoch: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := noted
	want.Epoch, want.Sequence = 2, claimed.Sequence
	if d := cmp.Diff(want, claimed); d != "" || claimed.Sequence <= seq {
		t.Errorf("the claim does not take over what was noted: %s", d)
	}

	noted.Sequence = seq
	if _, err := old.note(t.Context(), r.Ref(), noted); !fault.Is(err, fault.Conflict) {
		t.Errorf("another note: %v, want Conflict", err)
	}
	if _, err := old.claim(t.Context(), r.Ref(), queue.Attempts{Request: r.ID, Epoch: 1}); !fault.Is(err, fault.Interrupted) {
		t.Errorf("another claim: %v, want Interrupted", err)
	}
	failed := queue.Outcome{Request: r.ID, Session: "s", Tenant: "t", State: queue.Failed}
	if err := old.record(t.Context(), failed, seq, 1); !fault.Is(err, fault.Interrupted) {
		t.Errorf("an outcome: %v, want Interrupted", err)
	}
	if _, err := queue.New(a.cfg.Bus).Outcome(t.Context(), r.Ref()); !fault.Is(err, fault.NotFound) {
		t.Errorf("an outcome was stored: %v", err)
	}
	if _, err := queue.New(a.cfg.Bus).FindOutcome(t.Context(), r.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("an outcome is found: %v", err)
	}
	err = queue.New(a.cfg.Bus).Outcomes(t.Context(), "*", time.Time{}, func(o queue.Outcome) bool {
		t.Errorf("listed: %+v", o)
		return true
	})
	if err != nil {
		t.Error(err)
	}

	done := failed
	done.State = queue.Completed
	if err := next.record(t.Context(), done, claimed.Sequence, 2); err != nil {
		t.Fatal(err)
	}
	if err := old.record(t.Context(), failed, seq, 1); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second outcome: %v, want Conflict", err)
	}
	if o, err := queue.New(a.cfg.Bus).FindOutcome(t.Context(), r.ID); err != nil || o.State != queue.Completed {
		t.Errorf("outcome = %+v, %v, want the one of the leader", o, err)
	}
	third := leaderOf(a, 3)
	if _, err := third.claim(t.Context(), r.Ref(), queue.Attempts{Request: r.ID, Epoch: 3}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a claim of what has ended: %v, want Conflict", err)
	}
}

// An outcome follows what an earlier leader has recorded late.
func TestRecordFollowsAnEarlierLeader(t *testing.T) {
	a, b := candidates(t)
	r := queue.Request{ID: "req_1", Session: "s", Tenant: "t"}
	if _, err := leaderOf(a, 1).note(t.Context(), r.Ref(), queue.Attempts{Request: r.ID, Epoch: 1, Failed: 1}); err != nil {
		t.Fatal(err)
	}
	o := queue.Outcome{Request: r.ID, Session: "s", Tenant: "t", State: queue.Completed}
	if err := leaderOf(b, 2).record(t.Context(), o, 0, 2); err != nil {
		t.Fatal(err)
	}
}

// A dead letter of a request that has ended otherwise is taken back.
func TestUnbury(t *testing.T) {
	a, _ := candidates(t)
	l := leaderOf(a, 1)
	for id, dead := range map[string]bool{"req_1": false, "req_2": true} {
		r := queue.Request{ID: id, Session: "s", Tenant: "t"}
		o := queue.Outcome{Request: id, Session: "s", Tenant: "t", State: queue.Failed, Dead: dead}
		if err := queue.New(a.cfg.Bus).PublishDeadLetter(t.Context(), queue.DeadLetter{Request: r}); err != nil {
			t.Fatal(err)
		}
		if err := l.record(t.Context(), o, 0, 1); err != nil {
			t.Fatal(err)
		}
		l.unbury(t.Context(), r.Ref())
		if _, _, err := queue.New(a.cfg.Bus).DeadLetter(t.Context(), id); dead == fault.Is(err, fault.NotFound) {
			t.Errorf("request %s: dead letter %v, want one: %t", id, err, dead)
		}
	}
}
