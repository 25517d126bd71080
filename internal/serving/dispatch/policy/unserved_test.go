package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
)

// serves adds a slot of a runner, "runner:affinity!" with a mark if it is busy,
// that serves the operations.
func serves(q *policy.Queue, runner string, operations ...openai.Operation) {
	name, busy := strings.CutSuffix(runner, "!")
	name, affinity, _ := strings.Cut(name, ":")
	q.SetSlot(policy.Slot{Runner: name, Affinity: affinity, Idle: !busy, Operations: operations})
}

// ask queues jobs "id tenant affinity" of one operation, in the order of their ids.
func ask(q *policy.Queue, op openai.Operation, jobs ...string) {
	for _, words := range jobs {
		j := job(int(words[0]), words)
		j.Operation = op
		q.Add(j)
	}
}

func TestNextByOperation(t *testing.T) {
	testServed(t, map[string]servedCase{
		"GoesToTheRunnerThatServesIt": {func(q *policy.Queue) {
			ask(q, "embedding", "a t")
			serves(q, "r1", "chat")
			serves(q, "r2", "chat", "embedding")
		}, 0, []string{"a>r2"}},
		"NoneServesIt": {func(q *policy.Queue) {
			ask(q, "embedding", "a t")
			serves(q, "r1", "chat")
			serves(q, "r2")
		}, 2 * patience, nil},
		"OthersPass": {func(q *policy.Queue) {
			ask(q, "embedding", "a t", "b t")
			ask(q, "chat", "c t", "d u")
			serves(q, "r1", "chat")
			serves(q, "r2", "chat")
		}, 0, []string{"c>r1", "d>r2"}},
		"OthersPassAfterPatience": {func(q *policy.Queue) {
			ask(q, "embedding", "a t")
			ask(q, "chat", "c t")
			serves(q, "r1", "chat")
		}, 2 * patience, []string{"c>r1"}},
		"WaitsForTheBusyOne": {func(q *policy.Queue) {
			ask(q, "embedding", "a t")
			serves(q, "r1", "chat")
			serves(q, "r2!", "embedding")
			serve(q, start)
			serves(q, "r2", "embedding")
		}, 0, []string{"a>r2"}},
		"ItsConversationIsWhereItIsNotServed": {func(q *policy.Queue) {
			ask(q, "embedding", "a t x")
			serves(q, "r1:x", "chat")
			serves(q, "r2", "embedding")
		}, 0, []string{"a>r2"}},
		"NoPatienceForABusySlotThatDoesNotServeIt": {func(q *policy.Queue) {
			ask(q, "embedding", "a t x")
			serves(q, "r1:x!", "chat")
			serves(q, "r2", "embedding")
		}, 0, []string{"a>r2"}},
		"AnAvoidedRunnerIsTheOnlyOneThatServesIt": {func(q *policy.Queue) {
			j := job(0, "a t")
			j.Operation, j.Avoid = "embedding", []string{"r2"}
			q.Add(j)
			serves(q, "r1", "chat")
			serves(q, "r2", "embedding")
			serve(q, start)
		}, patience, []string{"a>r2"}},
		"AnotherThanTheAvoidedRunnerServesIt": {func(q *policy.Queue) {
			j := job(0, "a t")
			j.Operation, j.Avoid = "embedding", []string{"r2"}
			q.Add(j)
			serves(q, "r2", "embedding")
			serve(q, start)
			serves(q, "r1", "chat")
			serves(q, "r3", "embedding")
		}, 0, []string{"a>r3"}},
		"AFreeSlotWakesTheParkedJobThatItServes": {func(q *policy.Queue) {
			for i, op := range []openai.Operation{"embedding", "chat"} {
				j := job(i, fmt.Sprintf("%c t", 'a'+i))
				j.Operation, j.Avoid = op, []string{"r0"}
				q.Add(j)
			}
			serves(q, "r0", "chat", "embedding")
			serve(q, start)
			serves(q, "r1", "chat")
		}, 0, []string{"b>r1"}},
		"BeginsToServeIt": {func(q *policy.Queue) {
			ask(q, "embedding", "a t")
			serves(q, "r1", "chat")
			serve(q, start)
			serves(q, "r1", "chat", "embedding")
		}, 0, []string{"a>r1"}},
		"CeasesToServeIt": {func(q *policy.Queue) {
			serves(q, "r1", "chat", "embedding")
			serves(q, "r1", "chat")
			ask(q, "embedding", "a t")
		}, 0, nil},
		"TheOneThatServesItIsRemoved": {func(q *policy.Queue) {
			serves(q, "r1", "chat")
			serves(q, "r2", "embedding")
			q.RemoveRunner("r2")
			ask(q, "embedding", "a t")
		}, 0, nil},
		"NeedsAFeature": {func(q *policy.Queue) {
			j := job(0, "a t")
			j.Operation, j.Features = "chat", "tools"
			q.Add(j)
			ask(q, "chat", "b t")
			serves(q, "r1", "chat")
			serve(q, start)
			serves(q, "r2", "chat")
			q.SetSlot(policy.Slot{Runner: "r3", Idle: true, Operations: []openai.Operation{"chat"}, Features: "json_schema,tools"})
		}, 0, []string{"a>r3"}},
		"TheFeatureIsOfAnotherOperation": {func(q *policy.Queue) {
			j := job(0, "a t")
			j.Operation, j.Features = "chat", "tools"
			q.Add(j)
			q.SetSlot(policy.Slot{Runner: "r1", Idle: true, Operations: []openai.Operation{"embedding"}, Features: "tools"})
			serves(q, "r2", "chat")
		}, 2 * patience, nil},
		"TenantsTakeTurnsWhenItComes": {func(q *policy.Queue) {
			ask(q, "embedding", "a t", "b t", "c t", "d u")
			serves(q, "r0", "chat")
			serve(q, start)
			for i := range 3 {
				serves(q, fmt.Sprintf("r%d", 1+i), "embedding")
			}
		}, 0, []string{"a>r1", "d>r2", "b>r3"}},
		"PriorityCountsWhenItComes": {func(q *policy.Queue) {
			for i, class := range []policy.Class{policy.Low, policy.Normal, policy.High} {
				j := job(i, fmt.Sprintf("%c t", 'a'+i))
				j.Operation, j.Class = "embedding", class
				q.Add(j)
			}
			serves(q, "r0", "chat")
			serve(q, start)
			serves(q, "r1", "embedding")
		}, 0, []string{"c>r1"}},
		"CancelledWhileItWaits": {func(q *policy.Queue) {
			ask(q, "embedding", "a t", "b t")
			serves(q, "r0", "chat")
			serve(q, start)
			q.Remove("a")
			serves(q, "r1", "embedding")
			serves(q, "r2", "embedding")
		}, 0, []string{"b>r1"}},
		"TheNextAfterACancelledOne": {func(q *policy.Queue) {
			ask(q, "embedding", "a t", "b t")
			serves(q, "r0", "chat")
			serve(q, start)
			serves(q, "r1", "embedding")
			q.Remove("a")
		}, 0, []string{"b>r1"}},
	})
}

// A leader asks again at Wake, so a time that has passed would make it ask
// without a pause.
func TestJobsThatNoSlotServesDoNotWakeTheLeader(t *testing.T) {
	q := policy.New(patience)
	ask(q, "embedding", "a t", "b u x", "c t")
	serves(q, "r1:x", "chat")
	deadline := start.Add(time.Hour)
	for _, after := range []time.Duration{0, patience - 1, patience, patience + 1, time.Hour - 1} {
		now := start.Add(after)
		if got := serve(q, now); got != nil {
			t.Fatalf("after %v: served %v", after, got)
		}
		if at := q.Wake(); !at.Equal(deadline) {
			t.Errorf("after %v: Wake = %v, want the deadline %v", after, at, deadline)
		}
	}
	if got := q.Expired(deadline); len(got) != 3 || q.Len() != 0 || !q.Wake().IsZero() {
		t.Errorf("%d jobs expired, %d are left, Wake = %v", len(got), q.Len(), q.Wake())
	}
	serves(q, "r2", "embedding")
	if got := serve(q, deadline); got != nil {
		t.Errorf("served %v after they expired", got)
	}
}

// A job that waits for the slot of its conversation wakes once, when its
// patience ends, although no slot serves it any more.
func TestAServedOperationWakesByPatience(t *testing.T) {
	q := policy.New(patience)
	ask(q, "embedding", "a t x")
	serves(q, "r1:x!", "embedding")
	serves(q, "r2", "embedding")
	serve(q, start)
	if at := q.Wake(); !at.Equal(start.Add(patience)) {
		t.Errorf("Wake = %v, want the end of the patience", at)
	}
	serves(q, "r2", "chat")
	if got := serve(q, start.Add(patience)); got != nil {
		t.Errorf("served %v by a slot that no longer serves it", got)
	}
	if at := q.Wake(); !at.Equal(start.Add(time.Hour)) {
		t.Errorf("Wake = %v, want the deadline", at)
	}
}

// BenchmarkUnserved is a decision with 1,000 idle runners, while 10,000 jobs of
// 100 tenants wait for an operation that none serves.
func BenchmarkUnserved(b *testing.B) {
	q := policy.New(patience)
	for i := range 10_000 {
		j := job(i, fmt.Sprintf("j%d t%d", i, i%100))
		j.Operation = "embedding"
		q.Add(j)
	}
	for i := range 1000 {
		serves(q, fmt.Sprintf("r%d", i), "chat", "completion")
	}
	j := job(10_000, "last t0")
	j.Operation = "chat"
	b.ReportAllocs()
	for b.Loop() {
		q.Add(j)
		_, to, ok := q.Next(start)
		if !ok {
			b.Fatal("nothing goes")
		}
		serves(q, to.Runner, "chat", "completion")
	}
}
