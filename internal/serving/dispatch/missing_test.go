package dispatch

import (
	"strconv"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// TestWhatCountsAsLost: a leader that has read all requests takes one for lost if its client
// still waits after a while. That one is lost in a running system is in test/serving.
func TestWhatCountsAsLost(t *testing.T) {
	t.Parallel()
	b := natstest.Start(t).Connect(t)
	first := time.Now()
	asks := queue.Resume{Tenant: "t"}
	for name, c := range map[string]struct {
		asks  queue.Resume
		again time.Duration // after the first time
		is    func(*leader)
		lost  bool
	}{
		"unknown":                         {asks, missingAfter, func(*leader) {}, true},
		"asked for a moment ago":          {asks, missingAfter - 1, func(*leader) {}, false},
		"of an older gateway":             {queue.Resume{}, missingAfter, func(*leader) {}, false},
		"known":                           {asks, missingAfter, func(l *leader) { l.ledger.jobs["r"] = &job{} }, false},
		"ended":                           {asks, missingAfter, func(l *leader) { l.stream.ended.add("r", first) }, false},
		"ended in a store that was older": {asks, missingAfter, func(l *leader) { l.stream.ended.add("r", first); l.stream.rereads = true }, true},
		"perhaps not read yet":            {asks, missingAfter, func(l *leader) { l.stream.replayed = false }, false},
		"perhaps lost with a connection":  {asks, missingAfter, func(l *leader) { l.stream.readOn-- }, false},
		"one of too many": {asks, missingAfter, func(l *leader) {
			for i := range maxMissing {
				l.intake.missing[strconv.Itoa(i)] = missing{since: first}
			}
		}, false},
	} {
		l := leaderOf(Config{Bus: b})
		l.stream.replayed, l.stream.readOn = true, b.Connection()
		c.is(l)
		l.intake.onResume("r", c.asks, first)
		l.intake.onResume("r", c.asks, first.Add(c.again))
		if ref, lost := l.intake.lost["r"]; lost != c.lost || lost && ref != (queue.Ref{ID: "r", Session: "s", Tenant: "t"}) {
			t.Errorf("a request that is %s is lost: %t, %+v", name, lost, ref)
		}
	}
}

// TestLostRequestIsReadLate has the stream show a request after all that was taken for lost:
// it is served.
func TestLostRequestIsReadLate(t *testing.T) {
	t.Parallel()
	now := time.Now()
	l := leaderOf(Config{MaxWait: time.Hour})
	l.stream.replayed = true
	l.ledger.jobs["r"] = &job{phase: fencing, lost: true, req: queue.Request{ID: "r", Session: "s", Tenant: "t", Created: now}}
	r := queue.Request{ID: "r", Session: "s", Tenant: "t", Model: "m", Created: now, EndBy: now.Add(time.Minute)}
	l.intake.onEntry(queue.Entry{Seq: 7, Raw: []byte("raw"), Request: r})
	j := l.ledger.jobs["r"]
	if j.lost || !j.stored || j.seq != 7 || j.req.Model != "m" || string(j.raw) != "raw" || !j.deadline.Equal(r.EndBy) || len(l.ledger.jobs) != 1 {
		t.Errorf("the request is %+v", j)
	}
}
