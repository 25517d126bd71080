package pool

import (
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/queue"
)

func TestCutKeepsWholeCharacters(t *testing.T) {
	short := strings.Repeat("ж", maxMessage)
	if got := cut(short); got != short {
		t.Error("a message that fits is cut")
	}
	if got, want := cut(short+"x"), strings.Repeat("ж", maxMessage-1)+"…"; got != want {
		t.Errorf("cut to %q", got)
	}
}

func TestStatusEqual(t *testing.T) {
	at, later := start, start.Add(time.Second)
	same := Status{Members: []Member{{Name: "0"}}, NextMember: 1, LastActivity: &at}
	copied := at
	if other := (Status{Members: []Member{{Name: "0"}}, NextMember: 1, LastActivity: &copied}); !same.equal(other) {
		t.Error("the same status is not equal")
	}
	for name, change := range map[string]func(s *Status){
		"Members":      func(s *Status) { s.Members = nil },
		"NextMember":   func(s *Status) { s.NextMember++ },
		"Backlog":      func(s *Status) { s.Backlog++ },
		"InFlight":     func(s *Status) { s.InFlight++ },
		"Oldest":       func(s *Status) { s.OldestAgeSeconds++ },
		"Idle":         func(s *Status) { s.IdleRunners++ },
		"Busy":         func(s *Status) { s.BusyRunners++ },
		"NoActivity":   func(s *Status) { s.LastActivity = nil },
		"LastActivity": func(s *Status) { s.LastActivity = &later },
	} {
		t.Run(name, func(t *testing.T) {
			other := same
			change(&other)
			if same.equal(other) || other.equal(same) {
				t.Error("another status is equal")
			}
		})
	}
}

func TestMatters(t *testing.T) {
	l := limits{max: 4, perOne: 1, idle: 80 * time.Second} // a moment is 10 s
	kept := record{Plan: plan{Members: []member{{Name: "0", Phase: Active}}, Next: 1, Needed: []time.Time{start}}, Saved: start}
	for name, c := range map[string]struct {
		change func(p *plan)
		after  time.Duration
		want   bool
	}{
		"Nothing":        {func(*plan) {}, time.Second, false},
		"Old":            {func(*plan) {}, keep/4 + time.Second, true},
		"NotOld":         {func(*plan) {}, keep / 4, false},
		"MemberAdded":    {func(p *plan) { p.add() }, 0, true},
		"MemberDrains":   {func(p *plan) { p.Members = []member{{Name: "0", Phase: Draining}} }, 0, true},
		"Next":           {func(p *plan) { p.Next++ }, 0, true},
		"Slots":          {func(p *plan) { p.Slots = 4 }, 0, true},
		"Short":          {func(p *plan) { p.Short = start }, 0, true},
		"MoreNeeded":     {func(p *plan) { p.Needed = []time.Time{start, start} }, 0, true},
		"FewerNeeded":    {func(p *plan) { p.Needed = nil }, 0, false},
		"NeededLater":    {func(p *plan) { p.Needed = []time.Time{start.Add(11 * time.Second)} }, 0, true},
		"NeededJustNow":  {func(p *plan) { p.Needed = []time.Time{start.Add(10 * time.Second)} }, 0, false},
		"GrownIsNothing": {func(p *plan) { p.Grown = start }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			next := kept.Plan
			c.change(&next)
			if got := kept.matters(next, l, start.Add(c.after)); got != c.want {
				t.Errorf("matters = %t, want %t", got, c.want)
			}
		})
	}
}

func TestStandingOfAMember(t *testing.T) {
	s := Spec{Owner: "ns/session"}
	held := queue.Runner{State: queue.RunnerDraining, Held: make([]queue.HeldAttempt, 2)}
	for name, c := range map[string]struct {
		spec   Spec
		member member
		found  map[string]queue.Runner
		want   standing
		ok     bool
	}{
		"Absent":         {s, member{Name: "0"}, nil, standing{ready: true}, false},
		"Idle":           {s, member{Name: "0"}, map[string]queue.Runner{s.runner("0"): {State: queue.RunnerIdle}}, ready, true},
		"Starting":       {s, member{Name: "0"}, map[string]queue.Runner{s.runner("0"): {State: queue.RunnerStarting}}, standing{there: true}, true},
		"DrainsAndHolds": {s, member{Name: "0"}, map[string]queue.Runner{s.runner("0"): held}, ending, true},
		"OfAnother":      {s, member{Name: "1"}, map[string]queue.Runner{s.runner("0"): held}, standing{ready: true}, false},
		"NoOwner":        {Spec{}, member{Name: "0", Phase: Draining}, nil, standing{there: true, draining: true, working: true}, true},
		"NoOwnerActive":  {Spec{}, member{Name: "0", Phase: Active}, nil, standing{there: true, draining: true, working: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := c.spec.standing(c.member, c.found, true); got != c.want || ok != c.ok {
				t.Errorf("standing = %+v, %t; want %+v, %t", got, ok, c.want, c.ok)
			}
		})
	}
}

func TestAPoolIsOnlyObserved(t *testing.T) {
	c := &Client{}
	if c.Create(t.Context(), Spec{}) != nil || c.Update(t.Context(), Spec{}) != nil || c.Delete(t.Context(), Spec{}) != nil {
		t.Error("creating, updating and deleting have nothing to do")
	}
	if (Spec{Owner: "o", ID: "i"}).id() != "i" || (Spec{Owner: "o"}).id() != "o" {
		t.Error("the id of a pool is its ID, or else its Owner")
	}
}
