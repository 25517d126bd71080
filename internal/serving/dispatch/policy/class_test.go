package policy_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
)

func classed(class policy.Class, order int, words string) policy.Job {
	j := job(order, words)
	j.Class = class
	return j
}

// While jobs of all classes wait, each class is served tokens in proportion to its
// share.
func TestClassesGetTheirShares(t *testing.T) {
	q := policy.New(patience)
	order := 0
	add := func(c policy.Class) {
		order++
		q.Add(classed(c, order, fmt.Sprintf("j%d t%d", order, order%3)))
	}
	for range 6 {
		add(policy.High)
		add(policy.Normal)
		add(policy.Low)
	}
	served := map[policy.Class]int{}
	for range 2100 {
		idle(q, "r")
		j, _, ok := q.Next(start)
		if !ok {
			t.Fatal("nothing goes")
		}
		served[j.Class]++
		add(j.Class)
	}
	for c, want := range map[policy.Class]int{policy.High: 1600, policy.Normal: 400, policy.Low: 100} {
		if got := served[c]; got < want-2 || got > want+2 {
			t.Errorf("class %d was served %d times of 2100, want %d", c, got, want)
		}
	}
}

// An urgent job goes before the waiting jobs of a lower class.
func TestUrgentFirst(t *testing.T) {
	q := policy.New(patience)
	for i := range 40 {
		q.Add(classed(policy.Low, i, fmt.Sprintf("l%d t", i)))
	}
	for range 20 {
		idle(q, "r")
		q.Next(start)
	}
	q.Add(classed(policy.High, 100, "h0 u"))
	q.Add(classed(policy.High, 101, "h1 u"))
	var got []string
	for range 4 {
		idle(q, "r")
		j, _, _ := q.Next(start)
		got = append(got, j.ID)
	}
	if diff := cmp.Diff([]string{"h0", "h1", "l20", "l21"}, got); diff != "" {
		t.Error(diff)
	}
}

// A class without jobs until now starts level with the one that was served last. It
// does not make up for the time without jobs.
func TestClassStartsLevel(t *testing.T) {
	q := policy.New(patience)
	for i := range 200 {
		q.Add(classed(policy.High, i, fmt.Sprintf("h%d t", i)))
	}
	for range 160 {
		idle(q, "r")
		q.Next(start)
	}
	for i := range 10 {
		q.Add(classed(policy.Low, 200+i, fmt.Sprintf("l%d u", i)))
	}
	served := map[policy.Class]int{}
	for range 17 {
		idle(q, "r")
		j, _, _ := q.Next(start)
		served[j.Class]++
	}
	if served[policy.High] != 16 || served[policy.Low] != 1 {
		t.Errorf("served by class: %v, want 16 urgent jobs and 1 of the lowest class", served)
	}
}

func TestUnknownClassIsTheLowest(t *testing.T) {
	q := policy.New(patience)
	q.Add(classed(policy.Class(77), 0, "a t"))
	q.Add(classed(policy.Class(-1), 1, "b t"))
	idle(q, "r1", "r2")
	if diff := cmp.Diff([]string{"b>r1", "a>r2"}, serve(q, start)); diff != "" {
		t.Error(diff)
	}
}

// FuzzNobodyStarves: whatever others do (more tenants, more urgent ones, large
// and small jobs, conversations, charges that turn out otherwise), a job is
// served within a bound that only its own place and the number of tenants set.
func FuzzNobodyStarves(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(seed, uint8(seed%3), uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, class, ahead uint8) {
		const (
			rivals  = 4 // tenants beside the victim
			maxCost = 20
			shares  = 16 + 4 + 1
		)
		rng := rand.New(rand.NewPCG(seed, 2))
		q := policy.New(patience)
		now, order := start, 0
		add := func(tenant string, c policy.Class) string {
			order++
			j := classed(c, order, fmt.Sprintf("j%d %s", order, tenant))
			j.Cost = 1 + rng.IntN(maxCost)
			j.Since, j.Deadline = now, now.Add(time.Hour)
			j.Affinity = []string{"", "x", "y", "z"}[rng.IntN(4)]
			q.Add(j)
			return j.ID
		}
		flood := func() {
			for i := range rivals {
				for c := policy.High; c <= policy.Low; c++ {
					for range rng.IntN(3) {
						add(fmt.Sprintf("rival%d", i), c)
					}
				}
			}
		}
		for range 20 { // the others have been here for a while
			flood()
			idle(q, "r1:x", "r2:y")
			serve(q, now)
		}
		victims := int(ahead%8) + 1
		var last string
		for range victims {
			last = add("victim", policy.Class(class%3))
		}
		// Each turn of the victim costs at most a job of every rival in every
		// share, by size; parked jobs wait for at most the patience.
		bound := shares * (rivals + 1) * (victims + 1) * maxCost
		for range bound {
			now = now.Add(50 * time.Millisecond)
			flood()
			idle(q, "r1:x", "r2:y")
			for {
				j, _, ok := q.Next(now)
				if !ok {
					break
				}
				if j.ID == last {
					return
				}
				if rng.IntN(2) == 0 {
					q.Charge(j.Class, j.Tenant, rng.IntN(maxCost)-j.Cost/2)
				}
			}
		}
		t.Fatalf("not served in %d turns", bound)
	})
}
