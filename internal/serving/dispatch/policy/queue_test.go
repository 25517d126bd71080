package policy_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const patience = 3 * time.Second

// job reads "id tenant affinity": arrival by order of the call.
func job(order int, words string) policy.Job {
	w := append(strings.Fields(words), "", "")
	return policy.Job{
		ID: w[0], Tenant: w[1], Affinity: w[2], Order: uint64(order), Cost: 10,
		Since: start, Deadline: start.Add(time.Hour),
	}
}

func fill(q *policy.Queue, jobs ...string) {
	for i, words := range jobs {
		q.Add(job(i, words))
	}
}

func idle(q *policy.Queue, names ...string) {
	for _, name := range names {
		name, affinity, _ := strings.Cut(name, ":")
		q.SetSlot(policy.Slot{Runner: name, Affinity: affinity, Idle: true})
	}
}

// serve takes out all that can go now, as "job>runner".
func serve(q *policy.Queue, now time.Time) []string {
	var out []string
	for {
		j, to, ok := q.Next(now)
		if !ok {
			return out
		}
		out = append(out, j.ID+">"+to.Runner)
	}
}

// A servedCase fills a queue, and names what it serves after a while.
type servedCase struct {
	set  func(q *policy.Queue)
	at   time.Duration // after start
	want []string      // "job>runner", in order
}

func testServed(t *testing.T, cases map[string]servedCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			q := policy.New(patience)
			c.set(q)
			if diff := cmp.Diff(c.want, serve(q, start.Add(c.at))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNext(t *testing.T) {
	testServed(t, map[string]servedCase{
		"Empty":    {func(*policy.Queue) {}, 0, nil},
		"NoRunner": {func(q *policy.Queue) { fill(q, "a t") }, 0, nil},
		"NoJob":    {func(q *policy.Queue) { idle(q, "r") }, 0, nil},
		"FIFO": {func(q *policy.Queue) {
			fill(q, "a t", "b t", "c t")
			idle(q, "r1", "r2")
		}, 0, []string{"a>r1", "b>r2"}},
		"BusyRunnersGetNothing": {func(q *policy.Queue) {
			fill(q, "a t")
			q.SetSlot(policy.Slot{Runner: "r"})
		}, 0, nil},
		"RemovedRunnersGetNothing": {func(q *policy.Queue) {
			fill(q, "a t")
			idle(q, "r")
			q.RemoveRunner("r")
		}, 0, nil},
		"EarliestDeadlineFirst": {func(q *policy.Queue) {
			fill(q, "a t")
			urgent := job(1, "b t")
			urgent.Deadline = start.Add(time.Minute)
			q.Add(urgent)
			idle(q, "r1", "r2")
		}, 0, []string{"b>r1", "a>r2"}},
		"TenantsTakeTurns": {func(q *policy.Queue) {
			fill(q, "a t", "b t", "c t", "x u", "y v")
			idle(q, "r1", "r2", "r3", "r4", "r5")
		}, 0, []string{"a>r1", "x>r2", "y>r3", "b>r4", "c>r5"}},
		"AffinityFirst": {func(q *policy.Queue) {
			fill(q, "a t chat")
			idle(q, "r1", "r2:chat", "r3")
		}, 0, []string{"a>r2"}},
		"ColdestOtherwise": {func(q *policy.Queue) {
			fill(q, "a t chat")
			idle(q, "r1:other", "r2", "r3")
		}, 0, []string{"a>r2"}},
		"LongestIdleOfTheWarm": {func(q *policy.Queue) {
			fill(q, "a t")
			idle(q, "r1:x", "r2:y")
			idle(q, "r1:x")
		}, 0, []string{"a>r1"}},
		"WaitsForItsRunnerAndLetsOthersPass": {func(q *policy.Queue) {
			fill(q, "a t chat", "b t")
			q.SetSlot(policy.Slot{Runner: "r1", Affinity: "chat"})
			idle(q, "r2")
		}, 0, []string{"b>r2"}},
		"GoesColdWhenPatienceEnds": {func(q *policy.Queue) {
			fill(q, "a t chat")
			q.SetSlot(policy.Slot{Runner: "r1", Affinity: "chat"})
			idle(q, "r2")
			serve(q, start)
		}, patience, []string{"a>r2"}},
		"ItsRunnerComesInTime": {func(q *policy.Queue) {
			fill(q, "a t chat")
			q.SetSlot(policy.Slot{Runner: "r1", Affinity: "chat"})
			idle(q, "r2")
			serve(q, start)
			idle(q, "r1:chat")
		}, time.Second, []string{"a>r1"}},
		"AvoidsWhoFailedIt": {func(q *policy.Queue) {
			j := job(0, "a t")
			j.Avoid = []string{"r1"}
			q.Add(j)
			idle(q, "r1", "r2")
		}, 0, []string{"a>r2"}},
		"WaitsForAnotherThanWhoFailedIt": {func(q *policy.Queue) {
			j := job(0, "a t")
			j.Avoid = []string{"r1"}
			q.Add(j)
			idle(q, "r1")
			q.SetSlot(policy.Slot{Runner: "r2"})
			serve(q, start)
			idle(q, "r2")
		}, 0, []string{"a>r2"}},
		"WhoFailedItIsBetterThanNobody": {func(q *policy.Queue) {
			j := job(0, "a t")
			j.Avoid = []string{"r1", "r1"}
			q.Add(j)
			idle(q, "r1")
			serve(q, start)
		}, patience, []string{"a>r1"}},
		"Removed": {func(q *policy.Queue) {
			fill(q, "a t", "b t chat")
			q.SetSlot(policy.Slot{Runner: "r1", Affinity: "chat"})
			idle(q, "r2")
			q.Remove("a")
			serve(q, start)
			q.Remove("b")
		}, patience, nil},
		"SameIdOnce": {func(q *policy.Queue) {
			fill(q, "a t", "a t")
			idle(q, "r1", "r2")
		}, 0, []string{"a>r1"}},
	})
}

// A tenant with small requests gets as many tokens as one with large ones.
func TestFairnessCountsTokens(t *testing.T) {
	q := policy.New(patience)
	tokens := map[string]int{}
	cost := map[string]int{"small": 10, "large": 1000}
	order := 0
	add := func(tenant string) {
		order++
		j := job(order, fmt.Sprintf("%s%d %s", tenant, order, tenant))
		j.Cost = 100 // the actual cost is not known yet
		q.Add(j)
	}
	for range 5 {
		add("small")
		add("large")
	}
	for range 5000 {
		idle(q, "r")
		j, _, ok := q.Next(start)
		if !ok {
			t.Fatal("nothing goes")
		}
		tokens[j.Tenant] += cost[j.Tenant]
		q.Charge(j.Class, j.Tenant, cost[j.Tenant]-j.Cost)
		add(j.Tenant)
	}
	if diff := tokens["large"] - tokens["small"]; diff < -2000 || diff > 2000 {
		t.Errorf("tokens served = %v, want about the same", tokens)
	}
}

// A tenant without jobs does not save up a right to be served.
func TestIdleTenantsDoNotSaveUp(t *testing.T) {
	q := policy.New(patience)
	for i := range 100 {
		q.Add(job(i, fmt.Sprintf("a%d a", i)))
	}
	for range 50 {
		idle(q, "r")
		q.Next(start)
	}
	for i := range 50 {
		q.Add(job(1000+i, fmt.Sprintf("b%d b", i)))
	}
	served := map[string]int{}
	for range 20 {
		idle(q, "r")
		j, _, _ := q.Next(start)
		served[j.Tenant]++
	}
	if served["a"] < 9 {
		t.Errorf("served after the other came back = %v, want turns", served)
	}
}

func TestExpired(t *testing.T) {
	q := policy.New(patience)
	for i, d := range []time.Duration{time.Minute, time.Second, time.Hour} {
		j := job(i, fmt.Sprintf("j%d t chat", i))
		j.Deadline = start.Add(d)
		q.Add(j)
	}
	q.SetSlot(policy.Slot{Runner: "r1", Affinity: "chat"})
	idle(q, "r2")
	serve(q, start) // parks them
	if got := q.Wake(); !got.Equal(start.Add(time.Second)) {
		t.Errorf("Wake = %v, want the first deadline", got)
	}
	var got []string
	for _, j := range q.Expired(start.Add(time.Minute)) {
		got = append(got, j.ID)
	}
	if diff := cmp.Diff([]string{"j1", "j0"}, got); diff != "" {
		t.Error(diff)
	}
	if q.Len() != 1 {
		t.Errorf("Len = %d, want 1", q.Len())
	}
}

// Without an idle slot, Next parks no jobs: it wakes for the deadline only.
func TestNextWithoutIdleSlotsParksNothing(t *testing.T) {
	q := policy.New(patience)
	fill(q, "a t")
	serve(q, start)
	if got, want := q.Wake(), start.Add(time.Hour); !got.Equal(want) {
		t.Errorf("Wake = %v, want the deadline %v", got, want)
	}
}

// Each idle slot of a conversation wakes one of the jobs that wait for it.
func TestIdleSlotWakesOneJobOfItsConversation(t *testing.T) {
	q := policy.New(patience)
	fill(q, "a t chat", "b t chat")
	q.SetSlot(policy.Slot{Runner: "r1", Affinity: "chat"})
	idle(q, "r2")
	if got := serve(q, start); got != nil {
		t.Fatalf("served %v while the slot of the conversation is busy", got)
	}
	for _, want := range []string{"a>r1", "b>r1"} {
		idle(q, "r1:chat")
		if diff := cmp.Diff([]string{want}, serve(q, start.Add(time.Second))); diff != "" {
			t.Error(diff)
		}
	}
}

func TestPositions(t *testing.T) {
	q := policy.New(patience)
	fill(q, "a t", "b u", "c t")
	q.Remove("b")
	var got []string
	q.Positions(func(id string, ahead int) { got = append(got, fmt.Sprint(id, ahead)) })
	if diff := cmp.Diff([]string{"a0", "c1"}, got); diff != "" {
		t.Error(diff)
	}
}

// Under any sequence of calls, no job is lost or served twice, and each is served in
// the end.
func FuzzQueue(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		q := policy.New(patience)
		now := start
		waiting, out := map[string]bool{}, map[string]bool{}
		operations, features, deadlines := map[string]openai.Operation{}, map[string]openai.Features{}, map[string]time.Time{}
		type key struct {
			runner string
			slot   int
		}
		busy := map[key]bool{}
		for step := range 600 {
			now = now.Add(time.Duration(rng.IntN(500)) * time.Millisecond)
			switch rng.IntN(6) {
			case 0, 1:
				j := job(step, fmt.Sprintf("j%d t%d", step, rng.IntN(4)))
				j.Affinity = []string{"", "x", "y"}[rng.IntN(3)]
				j.Class = policy.Class(rng.IntN(3))
				j.Since, j.Deadline = now, now.Add(time.Duration(1+rng.IntN(60))*time.Second)
				if rng.IntN(3) == 0 {
					j.Avoid = []string{fmt.Sprintf("r%d", rng.IntN(4))}
				}
				j.Operation = []openai.Operation{"", "chat", "embedding"}[rng.IntN(3)]
				j.Features = []openai.Features{"", "", "tools", "logprobs,tools"}[rng.IntN(4)]
				q.Add(j)
				waiting[j.ID] = true
				operations[j.ID], features[j.ID], deadlines[j.ID] = j.Operation, j.Features, j.Deadline
			case 2:
				k := key{fmt.Sprintf("r%d", rng.IntN(4)), rng.IntN(3)}
				q.SetSlot(policy.Slot{
					Runner: k.runner, Number: k.slot, Affinity: []string{"", "x", "y"}[rng.IntN(3)], Idle: true,
					Operations: [][]openai.Operation{nil, {"chat"}, {"chat", "embedding"}}[rng.IntN(3)],
					Features:   []openai.Features{"", "tools", "json_schema,logprobs,tools"}[rng.IntN(3)],
				})
				delete(busy, k)
			case 3:
				r := fmt.Sprintf("r%d", rng.IntN(4))
				q.RemoveRunner(r)
				maps.DeleteFunc(busy, func(k key, _ bool) bool { return k.runner == r })
			case 4:
				id := fmt.Sprintf("j%d", rng.IntN(step+1))
				if q.Remove(id) != waiting[id] {
					t.Fatalf("Remove(%s) does not know what waits", id)
				}
				delete(waiting, id)
			case 5:
				for _, j := range q.Expired(now) {
					if !waiting[j.ID] || j.Deadline.After(now) {
						t.Fatalf("%s expired wrongly", j.ID)
					}
					delete(waiting, j.ID)
				}
			}
			for {
				j, to, ok := q.Next(now)
				if !ok {
					break
				}
				k := key{to.Runner, to.Number}
				if !waiting[j.ID] || out[j.ID] || busy[k] {
					t.Fatalf("%s>%v: served wrongly", j.ID, k)
				}
				if op := operations[j.ID]; op != "" && !slices.Contains(to.Operations, op) {
					t.Fatalf("%s>%v: the slot does not serve %q", j.ID, k, op)
				}
				if missing := to.Features.Missing(features[j.ID]); missing != "" {
					t.Fatalf("%s>%v: the slot does not offer %q", j.ID, k, missing)
				}
				delete(waiting, j.ID)
				out[j.ID], busy[k] = true, true
			}
			if at := q.Wake(); !at.After(now) {
				late := func(id string) bool { return !deadlines[id].After(now) }
				if len(waiting) > 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(waiting)), late) {
					t.Fatalf("Wake = %v, which has passed at %v", at, now)
				}
			}
			if q.Len() != len(waiting) {
				t.Fatalf("Len = %d, want %d", q.Len(), len(waiting))
			}
		}
		now = now.Add(patience)
		for range 2000 {
			q.SetSlot(policy.Slot{Runner: "last", Idle: true, Operations: []openai.Operation{"chat", "embedding"}, Features: "logprobs,tools"})
			j, _, ok := q.Next(now)
			if !ok {
				break
			}
			delete(waiting, j.ID)
		}
		if len(waiting) != 0 {
			t.Fatalf("never served: %v", waiting)
		}
	})
}

// BenchmarkNext measures one decision and the return of its slot, with 1,000
// runners and 10,000 jobs of 100 tenants.
func BenchmarkNext(b *testing.B) {
	q := policy.New(patience)
	for i := range 10_000 {
		q.Add(job(i, fmt.Sprintf("j%d t%d c%d", i, i%100, i%3000)))
	}
	for i := range 1000 {
		idle(q, fmt.Sprintf("r%d:c%d", i, i))
	}
	b.ReportAllocs()
	order := 10_000
	for b.Loop() {
		j, to, ok := q.Next(start)
		if !ok {
			b.Fatal("nothing goes")
		}
		order++
		j.Order = uint64(order)
		q.Add(j)
		q.SetSlot(policy.Slot{Runner: to.Runner, Affinity: j.Affinity, Idle: true})
	}
}
