package dispatch

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue"
)

// What a leader has begun when its time was up comes to nothing.
func TestTimeIsUp(t *testing.T) {
	m, _ := candidates(t)
	b := m.cfg.Bus
	r := queue.Request{ID: "req_1", Session: "s", Tenant: "t"}
	seq, err := queue.New(b).Publish(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	o := queue.Outcome{Request: r.ID, Session: r.Session, Tenant: r.Tenant, State: queue.Failed}
	l := &leader{session: newSession(m, "s"), cfg: m.cfg, log: slog.New(slog.DiscardHandler)}
	over := time.Now().Add(-time.Millisecond)
	l.until.Store(&over)
	if err := l.record(t.Context(), o, 0, 1); !fault.Is(err, fault.Interrupted) {
		t.Errorf("record: %v, want Interrupted", err)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if l.bury(t.Context(), raw, o) {
		t.Error("a dead letter was stored")
	}
	if err := l.deleteMessage(t.Context(), seq); !fault.Is(err, fault.Interrupted) {
		t.Errorf("deleteMessage: %v, want Interrupted", err)
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

	later := time.Now().Add(time.Minute)
	l.until.Store(&later)
	if err := l.record(t.Context(), o, 0, 1); err != nil {
		t.Errorf("record while leading: %v", err)
	}
	if err := l.deleteMessage(t.Context(), seq); err != nil {
		t.Errorf("deleteMessage while leading: %v", err)
	}
}

// A machine that slept has a wall clock that went on and a monotonic one that
// did not: either is enough to end a lead.
func TestLasts(t *testing.T) {
	now := time.Now()
	until := now.Add(time.Second)
	if !lasts(until, now) {
		t.Error("a lease does not last until its end")
	}
	if lasts(until, now.Add(2*time.Second)) {
		t.Error("a lease lasts beyond its end")
	}
	slept := until.Round(0).Add(-time.Hour) // the wall clock alone says so
	if lasts(slept, now) {
		t.Error("a lease lasts beyond its end by the wall clock")
	}
}
