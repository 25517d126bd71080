package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
)

// group reads "name weight", with a mark if it is a fallback, and then its runners
// "runner:affinity", with a mark if they are busy. All serve chat.
func group(q *policy.Queue, words string, runners ...string) {
	var g policy.Group
	words, g.Fallback = strings.CutSuffix(words, "!")
	if _, err := fmt.Sscan(words, &g.Name, &g.Weight); err != nil {
		panic(err)
	}
	for _, r := range runners {
		r, busy := strings.CutSuffix(r, "!")
		name, affinity, _ := strings.Cut(r, ":")
		q.SetGroup(g)
		q.SetSlot(policy.Slot{Runner: name, Group: g.Name, Affinity: affinity, Idle: !busy, Operations: []openai.Operation{"chat"}})
	}
}

// failed queues a job that runners of a group have failed.
func failed(q *policy.Queue, words, runner, group string) {
	j := job(0, words)
	j.Avoid, j.AvoidGroups = []string{runner}, []string{group}
	q.Add(j)
}

func TestGroups(t *testing.T) {
	chat := func(q *policy.Queue, jobs ...string) { ask(q, "chat", jobs...) }
	testServed(t, map[string]servedCase{
		"ByWeight": {func(q *policy.Queue) {
			chat(q, "a t", "b t", "c t", "d t")
			group(q, "canary 10", "c1")
			group(q, "stable 20", "s1", "s2", "s3")
		}, 0, []string{"a>s1", "b>c1", "c>s2", "d>s3"}},
		"TheOtherWhileOneIsBusy": {func(q *policy.Queue) {
			chat(q, "a t", "b t")
			group(q, "canary 1", "c1", "c2")
			group(q, "stable 1000", "s1!")
		}, 0, []string{"a>c1", "b>c2"}},
		"WeightZeroTakesNone": {func(q *policy.Queue) {
			chat(q, "a t", "b t x")
			group(q, "old 0", "o1", "o2:x")
			group(q, "new 1", "n1")
		}, 2 * patience, []string{"a>n1"}},
		"WeightZeroIsNotReady": {func(q *policy.Queue) {
			chat(q, "a t")
			group(q, "old 0", "o1")
			group(q, "outside 1!", "f1")
		}, 0, []string{"a>f1"}},
		"ConversationLeavesAGroupOfWeightZero": {func(q *policy.Queue) {
			chat(q, "a t x")
			group(q, "old 0", "o1:x!")
			group(q, "new 1", "n1")
		}, 0, []string{"a>n1"}},
		"ConversationStaysAgainstTheWeights": {func(q *policy.Queue) {
			chat(q, "a t x")
			group(q, "canary 1", "c1:x")
			group(q, "stable 1000", "s1")
		}, 0, []string{"a>c1"}},
		"FallbackWhileNoOtherIsReady": {func(q *policy.Queue) {
			chat(q, "a t", "b t")
			group(q, "outside 1!", "f1")
			group(q, "backup 1!", "g1")
		}, 0, []string{"a>g1", "b>f1"}},
		"FallbackTakesNothingWhileAnotherIsIdle": {func(q *policy.Queue) {
			chat(q, "a t", "b t x")
			group(q, "outside 1000!", "f1:x")
			group(q, "stable 1", "s1")
		}, 0, []string{"a>s1"}},
		"FallbackTakesNothingWhileAnotherIsBusy": {func(q *policy.Queue) {
			chat(q, "a t", "b t x")
			group(q, "outside 1!", "f1:x")
			group(q, "stable 1", "s1!")
		}, 2 * patience, nil},
		"FallbackTakesWhatWaitsWhenTheOtherIsGone": {func(q *policy.Queue) {
			chat(q, "a t")
			group(q, "outside 1!", "f1")
			group(q, "stable 1", "s1!")
			serve(q, start)
			q.RemoveRunner("s1")
		}, 0, []string{"a>f1"}},
		"FallbackEndsWhenAnotherReturns": {func(q *policy.Queue) {
			chat(q, "a t", "b t")
			group(q, "outside 1!", "f1", "f2!")
			serve(q, start)
			group(q, "outside 1!", "f2")
			group(q, "stable 1", "s1!")
			serve(q, start)
			group(q, "stable 1", "s1")
		}, 0, []string{"b>s1"}},
		"FallbackForAnOperationThatNoOtherServes": {func(q *policy.Queue) {
			ask(q, "embedding", "a t", "b t")
			group(q, "stable 1", "s1")
			q.SetGroup(policy.Group{Name: "outside", Weight: 1, Fallback: true})
			q.SetSlot(policy.Slot{Runner: "f1", Group: "outside", Idle: true, Operations: []openai.Operation{"embedding"}})
		}, 0, []string{"a>f1"}},
		"FallbackOfWeightZero": {func(q *policy.Queue) {
			chat(q, "a t")
			group(q, "outside 0!", "f1")
		}, 2 * patience, nil},
		"AnotherGroupThanTheOneThatFailed": {func(q *policy.Queue) {
			failed(q, "a t", "s1", "stable")
			group(q, "canary 1", "c1")
			group(q, "stable 1000", "s1", "s2")
		}, 0, []string{"a>c1"}},
		"TheSameGroupIfNoOtherIsIdle": {func(q *policy.Queue) {
			failed(q, "a t", "s1", "stable")
			group(q, "canary 1", "c1!")
			group(q, "stable 1000", "s1", "s2")
		}, 0, []string{"a>s2"}},
		"TheSameRunnerIfThereIsNoOther": {func(q *policy.Queue) {
			failed(q, "a t", "s1", "stable")
			group(q, "canary 0", "c1")
			group(q, "stable 1", "s1")
			serve(q, start)
		}, patience, []string{"a>s1"}},
		"DefaultWeight": {func(q *policy.Queue) {
			chat(q, "a t", "b t", "c t")
			group(q, "canary 50", "c1", "c2")
			serves(q, "r1", "chat")
			serves(q, "r2", "chat")
		}, 0, []string{"a>r1", "b>c1", "c>r2"}},
		"RunnerChangesItsGroup": {func(q *policy.Queue) {
			chat(q, "a t", "b t")
			group(q, "old 0", "r1")
			group(q, "new 1", "r1")
			group(q, "old 0", "r2")
		}, 0, []string{"a>r1"}},
		"RaisedWeight": {func(q *policy.Queue) {
			chat(q, "a t", "b t")
			group(q, "canary 0", "c1")
			serve(q, start)
			group(q, "canary 1", "c2")
		}, 0, []string{"a>c1", "b>c2"}},
		"TenantsTakeTurnsAmongGroups": {func(q *policy.Queue) {
			chat(q, "a t", "b t", "c u")
			group(q, "canary 1", "c1")
			group(q, "stable 2", "s1", "s2")
		}, 0, []string{"a>s1", "c>c1", "b>s2"}},
	})
}

// Of any number of jobs, each group gets its share, give or take about one, although
// its runners come and go.
func TestGroupsShareExactly(t *testing.T) {
	for _, weights := range [][]int{{90, 10}, {1, 1, 1}, {1000, 1}, {70, 20, 10}, {5, 0, 7, 13}, {100}} {
		t.Run(fmt.Sprint(weights), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			q := policy.New(patience)
			total := 0
			for _, w := range weights {
				total += w
			}
			got := make([]int, len(weights))
			for n := 1; n <= 1000; n++ {
				for i, w := range weights {
					// The first runner keeps the group; others do not count.
					for r := range 3 {
						name := fmt.Sprintf("g%d-%d", i, r)
						if r > 0 && rng.IntN(2) == 0 {
							q.RemoveRunner(name)
							continue
						}
						group(q, fmt.Sprintf("g%d %d", i, w), name)
					}
				}
				ask(q, "chat", fmt.Sprintf("j%d t", n))
				_, to, ok := q.Next(start)
				if !ok {
					t.Fatal("nothing goes")
				}
				got[int(to.Group[1]-'0')]++
				for i, w := range weights {
					if off := got[i]*total - n*w; off <= -total || off >= total {
						t.Fatalf("after %d jobs groups of weights %v got %v", n, weights, got)
					}
				}
			}
		})
	}
}

// Credits of old weights do not outweigh new ones, whichever group is behind.
func TestChangedGroupsShareAtOnce(t *testing.T) {
	for name, change := range map[string]func(q *policy.Queue){
		"Weight":   func(q *policy.Queue) { group(q, "a 1", "a1") },
		"Fallback": func(q *policy.Queue) { group(q, "a 1!", "a1"); group(q, "a 1", "a1") },
		"NewGroup": func(q *policy.Queue) { q.RemoveRunner("a1"); group(q, "c 1", "a1") },
	} {
		t.Run(name, func(t *testing.T) {
			for before := 0; before <= 1000; before += 50 { // jobs by the old weights
				q := policy.New(patience)
				n := 0
				next := func() string {
					ask(q, "chat", fmt.Sprintf("j%d t", n))
					n++
					_, to, ok := q.Next(start)
					if !ok {
						t.Fatal("nothing goes")
					}
					q.SetSlot(policy.Slot{Runner: to.Runner, Group: to.Group, Idle: true, Operations: []openai.Operation{"chat"}})
					return to.Group
				}
				group(q, "a 1000", "a1")
				group(q, "b 1", "b1")
				for range before {
					next()
				}
				change(q)
				b := 0
				for range 10 {
					if next() == "b" {
						b++
					}
				}
				if b < 3 || b > 7 {
					t.Fatalf("after %d jobs and the change, %d of 10 jobs went to one of two groups of weight 1", before, b)
				}
			}
		})
	}
}

// No idle slot stays idle while a job waits that it may take, and no fallback takes a
// job that another group serves.
func FuzzGroups(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 3))
		q := policy.New(patience)
		kinds := []policy.Group{{Name: "a", Weight: 90}, {Name: "b", Weight: 10}, {Name: "f", Weight: 5, Fallback: true}, {Name: "z", Weight: 0}}
		served := []openai.Operation{"chat", "embedding"}
		slots := map[string]policy.Slot{}
		waiting := map[string]openai.Operation{}
		fallback := func(op openai.Operation) bool {
			for _, s := range slots {
				if (s.Group == "a" || s.Group == "b") && slices.Contains(s.Operations, op) {
					return false
				}
			}
			return true
		}
		takes := func(s policy.Slot, op openai.Operation) bool {
			return s.Group != "z" && (s.Group == "f") == fallback(op) && slices.Contains(s.Operations, op)
		}
		for step := range 400 {
			switch rng.IntN(3) {
			case 0:
				j := job(step, fmt.Sprintf("j%d t%d", step, rng.IntN(3)))
				j.Operation = served[rng.IntN(2)]
				q.Add(j)
				waiting[j.ID] = j.Operation
			case 1:
				g := kinds[rng.IntN(len(kinds))]
				s := policy.Slot{Runner: fmt.Sprintf("%s%d", g.Name, rng.IntN(2)), Group: g.Name, Idle: true, Operations: served[:1+rng.IntN(2)]}
				q.SetGroup(g)
				q.SetSlot(s)
				slots[s.Runner] = s
			case 2:
				name := fmt.Sprintf("%s%d", kinds[rng.IntN(len(kinds))].Name, rng.IntN(2))
				q.RemoveRunner(name)
				delete(slots, name)
			}
			for {
				j, to, ok := q.Next(start)
				if !ok {
					break
				}
				s, idle := slots[to.Runner]
				if !idle || !s.Idle || !takes(s, waiting[j.ID]) {
					t.Fatalf("%s of operation %q went to %+v", j.ID, waiting[j.ID], s)
				}
				s.Idle = false
				slots[to.Runner] = s
				delete(waiting, j.ID)
			}
			for id, op := range waiting {
				for _, s := range slots {
					if s.Idle && takes(s, op) {
						t.Fatalf("%s of operation %q waits although %+v is idle", id, op, s)
					}
				}
			}
		}
	})
}

// BenchmarkGroups is a decision with 1,000 runners in 10 groups of different
// weights, of which one is a fallback.
func BenchmarkGroups(b *testing.B) {
	q := policy.New(patience)
	for i := range 10_000 {
		q.Add(job(i, fmt.Sprintf("j%d t%d c%d", i, i%100, i)))
	}
	groups := make([]policy.Group, 10)
	for i := range groups {
		groups[i] = policy.Group{Name: fmt.Sprintf("g%d", i), Weight: 10 * (i + 1), Fallback: i == 0}
	}
	for i := range 1000 {
		q.SetGroup(groups[i%10])
		q.SetSlot(policy.Slot{Runner: fmt.Sprintf("r%d", i), Group: groups[i%10].Name, Idle: true})
	}
	b.ReportAllocs()
	order := 10_000
	for b.Loop() {
		j, to, ok := q.Next(start.Add(time.Second))
		if !ok {
			b.Fatal("nothing goes")
		}
		order++
		j.Order = uint64(order)
		q.Add(j)
		q.SetSlot(policy.Slot{Runner: to.Runner, Group: to.Group, Idle: true})
	}
}
