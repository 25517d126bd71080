package dispatch

import (
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// recordsOf returns the records of a leader whose lease has not expired by its own clock.
func recordsOf(m *manager) records {
	t := &term{process: m.process, session: "s", log: slog.New(slog.DiscardHandler)}
	t.setEnd(time.Now().Add(time.Hour))
	return records{t}
}

// A deposed leader that does not know it yet stores nothing for a request that the
// next leader has fenced.
func TestDeposedLeaderRecordsNothing(t *testing.T) {
	a, b := candidates(t)
	r := queue.Request{ID: "req_1", Session: "s", Tenant: "t"}
	old, next := recordsOf(a), recordsOf(b)
	stored := queue.Attempts{Request: r.ID, Epoch: 1, Failed: 1, Reasons: []string{"broke"}, Runners: []string{"r1"}, UpTo: queue.AttemptID{Epoch: 1, Attempt: 1}}
	seq, err := old.storeAttempts(t.Context(), r.Ref(), stored)
	if err != nil {
		t.Fatal(err)
	}
	fenced, err := next.fence(t.Context(), r.Ref(), queue.Attempts{Request: r.ID, Epoch: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := stored
	want.Epoch, want.Sequence = 2, fenced.Sequence
	if d := cmp.Diff(want, fenced); d != "" || fenced.Sequence <= seq {
		t.Errorf("the fenced record lacks the stored attempts: %s", d)
	}

	stored.Sequence = seq
	if _, err := old.storeAttempts(t.Context(), r.Ref(), stored); !fault.Is(err, fault.Conflict) {
		t.Errorf("storing attempts again: %v, want Conflict", err)
	}
	if _, err := old.fence(t.Context(), r.Ref(), queue.Attempts{Request: r.ID, Epoch: 1}); !fault.Is(err, fault.Interrupted) {
		t.Errorf("fencing with an old epoch: %v, want Interrupted", err)
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
	if err := next.record(t.Context(), done, fenced.Sequence, 2); err != nil {
		t.Fatal(err)
	}
	if err := old.record(t.Context(), failed, seq, 1); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second outcome: %v, want Conflict", err)
	}
	if o, err := queue.New(a.cfg.Bus).FindOutcome(t.Context(), r.ID); err != nil || o.State != queue.Completed {
		t.Errorf("outcome = %+v, %v, want the one of the leader", o, err)
	}
	third := recordsOf(a)
	if _, err := third.fence(t.Context(), r.Ref(), queue.Attempts{Request: r.ID, Epoch: 3}); !fault.Is(err, fault.Conflict) {
		t.Errorf("fencing a request that has ended: %v, want Conflict", err)
	}
}

// An outcome is stored after the late record of an earlier leader.
func TestRecordFollowsAnEarlierLeader(t *testing.T) {
	a, b := candidates(t)
	r := queue.Request{ID: "req_1", Session: "s", Tenant: "t"}
	if _, err := recordsOf(a).storeAttempts(t.Context(), r.Ref(), queue.Attempts{Request: r.ID, Epoch: 1, Failed: 1}); err != nil {
		t.Fatal(err)
	}
	o := queue.Outcome{Request: r.ID, Session: "s", Tenant: "t", State: queue.Completed}
	if err := recordsOf(b).record(t.Context(), o, 0, 2); err != nil {
		t.Fatal(err)
	}
}

// A dead letter is deleted if its request has another outcome.
func TestDeleteDeadLetter(t *testing.T) {
	a, _ := candidates(t)
	l := recordsOf(a)
	for id, dead := range map[string]bool{"req_1": false, "req_2": true} {
		r := queue.Request{ID: id, Session: "s", Tenant: "t"}
		o := queue.Outcome{Request: id, Session: "s", Tenant: "t", State: queue.Failed, Dead: dead}
		if err := queue.New(a.cfg.Bus).PublishDeadLetter(t.Context(), queue.DeadLetter{Request: r}); err != nil {
			t.Fatal(err)
		}
		if err := l.record(t.Context(), o, 0, 1); err != nil {
			t.Fatal(err)
		}
		l.deleteDeadLetter(t.Context(), r.Ref())
		if _, _, err := queue.New(a.cfg.Bus).DeadLetter(t.Context(), id); dead == fault.Is(err, fault.NotFound) {
			t.Errorf("request %s: dead letter %v, want one: %t", id, err, dead)
		}
	}
}

// A leader whose lease has expired stores and deletes nothing.
func TestTimeIsUp(t *testing.T) {
	m, _ := candidates(t)
	b := m.cfg.Bus
	r := queue.Request{ID: "req_1", Session: "s", Tenant: "t"}
	seq, err := queue.New(b).Publish(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	o := queue.Outcome{Request: r.ID, Session: r.Session, Tenant: r.Tenant, State: queue.Failed}
	l := recordsOf(m)
	l.setEnd(time.Now().Add(-time.Millisecond))
	if err := l.record(t.Context(), o, 0, 1); !fault.Is(err, fault.Interrupted) {
		t.Errorf("record: %v, want Interrupted", err)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if l.storeDeadLetter(t.Context(), raw, o) {
		t.Error("a dead letter was stored")
	}
	if err := l.deleteMessage(t.Context(), b.Connection(), seq); !fault.Is(err, fault.Interrupted) {
		t.Errorf("deleteMessage: %v, want Interrupted", err)
	}
	l.setEnd(time.Now().Add(time.Hour))
	if err := l.deleteMessage(t.Context(), b.Connection()+1, seq); !errors.Is(err, errReadAgain) {
		t.Errorf("deleteMessage by a sequence of another connection: %v, want %v", err, errReadAgain)
	}
	if _, err := queue.New(b).Outcome(t.Context(), r.Ref()); !fault.Is(err, fault.NotFound) {
		t.Errorf("an outcome was stored: %v", err)
	}
	if _, _, err := queue.New(b).DeadLetter(t.Context(), r.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("a dead letter was stored: %v", err)
	}
	if open, err := queue.New(b).FindOpen(t.Context(), r.ID); err != nil || open.Ref != r.Ref() {
		t.Errorf("the request = %+v, %v, want it in stream %s", open, err, names.RequestStream)
	}

	l.setEnd(time.Now().Add(time.Minute))
	if err := l.record(t.Context(), o, 0, 1); err != nil {
		t.Errorf("record while leading: %v", err)
	}
	if err := l.deleteMessage(t.Context(), b.Connection(), seq); err != nil {
		t.Errorf("deleteMessage while leading: %v", err)
	}
}
