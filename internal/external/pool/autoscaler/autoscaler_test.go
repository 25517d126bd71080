package autoscaler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	start        = time.Unix(1_000_000, 0)
	ready        = runnerState{exists: true, ready: true}
	busy         = runnerState{exists: true, ready: true, working: true}
	drainedIdle  = runnerState{exists: true, ready: true, draining: true}
	drainingBusy = runnerState{exists: true, ready: true, working: true, draining: true}
	usual        = Limits{min: 1, max: 4, perOne: 1, idle: time.Minute}
)

// of makes a plan of "0 1d 2D": member 1 drains and member 2 is drained. All
// active ones were needed at the moment given.
func of(text string, needed time.Time) Plan {
	p := Plan{GrownAt: needed, MissingSince: start.Add(-time.Hour)}
	for _, word := range strings.Fields(text) {
		m := Member{Name: strings.TrimRight(word, "dD"), Phase: Active}
		switch {
		case strings.HasSuffix(word, "d"):
			m.Phase, m.DrainOrdered = Draining, true
		case strings.HasSuffix(word, "D"):
			m.Phase, m.DrainOrdered = Drained, true
		default:
			p.NeededAt = append(p.NeededAt, needed)
		}
		p.Members = append(p.Members, m)
		p.Next++
	}
	return p
}

func (p Plan) text() string {
	words := make([]string, 0, len(p.Members))
	for _, m := range p.Members {
		words = append(words, m.Name+map[Phase]string{Draining: "d", Drained: "D"}[m.Phase])
	}
	return strings.Join(words, " ")
}

// runners are the states of members 0, 1 and so on.
func runners(s ...runnerState) map[string]runnerState {
	out := map[string]runnerState{}
	for i, one := range s {
		out[fmt.Sprint(i)] = one
	}
	return out
}

func TestStep(t *testing.T) {
	long := start.Add(-time.Hour)
	cases := map[string]struct {
		plan   Plan
		limits Limits
		state  State
		want   string
		again  time.Duration // from start; 0: never
	}{
		"Rest":               {of("0", long), usual, State{runners: runners(ready)}, "0", 0},
		"EmptyStays":         {of("", long), Limits{max: 4, perOne: 1, idle: time.Minute}, State{}, "", 0},
		"FirstFromZero":      {of("", long), Limits{max: 4, perOne: 8, idle: time.Minute}, State{waiting: 1}, "0", 0},
		"AnIdleOneIsEnough":  {of("0", long), usual, State{waiting: 1, runners: runners(ready)}, "0", 0},
		"OneMore":            {of("0", long), usual, State{waiting: 1, working: 1, runners: runners(busy)}, "0 1", 0},
		"Burst":              {of("0", long), usual, State{waiting: 50, working: 1, runners: runners(busy)}, "0 1 2 3", 0},
		"OthersWork":         {of("0", long), usual, State{working: 3, elsewhere: 2, runners: runners(busy)}, "0", 0},
		"OthersWorkNoneHere": {of("", long), Limits{max: 4, perOne: 1, idle: time.Minute}, State{working: 2, elsewhere: 2, room: true}, "", 0},
		"OthersAreBusy":      {of("", long), Limits{max: 4, perOne: 1, idle: time.Minute}, State{waiting: 1, working: 2, elsewhere: 2}, "0", 0},
		"OthersDoNotServe":   {of("", long), Limits{max: 4, perOne: 1, idle: time.Minute}, State{waiting: 1, room: true}, "0", 0},
		"Unused":             {of("0 1", long), usual, State{waiting: 50, working: 3, elsewhere: 2, unused: true, runners: runners(busy, ready)}, "0 1d", 0},
		"UnusedStaysAtZero":  {of("", long), Limits{max: 4, perOne: 1, idle: time.Minute}, State{waiting: 50, unused: true}, "", 0},
		"Starting":           {of("0 1 2", start), usual, State{waiting: 3}, "0 1 2", 0},
		"FewWait":            {of("0", long), Limits{min: 1, max: 4, perOne: 5, idle: time.Minute}, State{waiting: 4, working: 1, runners: runners(busy)}, "0", 0},
		"ManyWait":           {of("0", long), Limits{min: 1, max: 4, perOne: 5, idle: time.Minute}, State{waiting: 5, working: 1, runners: runners(busy)}, "0 1", 0},
		"NotIdleYet":         {of("0 1 2", start.Add(-50*time.Second)), usual, State{runners: runners(ready, ready, ready)}, "0 1 2", 10 * time.Second},
		"NotIdleYetAtMost":   {of("0 1 2 3", start.Add(-50*time.Second)), usual, State{runners: runners(ready, ready, ready, ready)}, "0 1 2 3", 10 * time.Second},
		"Idle":               {of("0 1 2", long), usual, State{runners: runners(ready, ready, ready)}, "0 1d 2d", 0},
		"IdleJustNow":        {of("0 1", start.Add(-time.Minute)), usual, State{runners: runners(ready, ready)}, "0 1d", 0},
		"IdleToZero":         {of("0", long), Limits{max: 4, perOne: 1, idle: time.Minute}, State{runners: runners(ready)}, "0d", 0},
		"WorkingOneStays":    {of("0 1 2", long), usual, State{working: 1, runners: runners(ready, ready, busy)}, "0d 1d 2", 0},
		"UnreadyGoesFirst":   {of("0 1 2", long), Limits{min: 2, max: 4, perOne: 1, idle: time.Minute}, State{settled: true, runners: runners(ready, runnerState{exists: true}, ready)}, "0 1d 2", 0},
		"Cooldown":           {of("0 1", start.Add(-10*time.Second)), Limits{min: 1, max: 4, perOne: 1, idle: time.Second}, State{runners: runners(ready, ready)}, "0 1", 5 * time.Second},
		"ScaledDown":         {of("0 1 2", start), Limits{min: 1, max: 1, perOne: 1, idle: time.Minute}, State{waiting: 9, working: 3, runners: runners(busy, busy, busy)}, "0 1d 2d", 0},
		"ScaledUp":           {of("0", long), Limits{min: 3, max: 3, perOne: 1, idle: time.Minute}, State{}, "0 1 2", 0},
		"ScaledToZero":       {of("0", start), Limits{perOne: 1, idle: time.Minute}, State{waiting: 9, settled: true}, "0D", 0},
		"DrainingWorks":      {of("0 1d", start), usual, State{working: 1, runners: runners(ready, drainingBusy)}, "0 1d", 0},
		"DrainingUntold":     {of("0 1d", start), usual, State{runners: runners(ready, ready)}, "0 1d", 0},
		"DrainingDone":       {of("0 1d", start), usual, State{runners: runners(ready, drainedIdle)}, "0 1D", 0},
		"DrainingGone":       {of("0 1d", start), usual, State{settled: true, runners: runners(ready)}, "0 1D", 0},
		"GoneOrUnseen":       {of("0 1d", start), usual, State{runners: runners(ready)}, "0 1d", 0},
		"DrainedStays":       {of("0 1D", start), usual, State{settled: true, runners: runners(ready, drainedIdle)}, "0 1D", 0},
		"DrainedIsForgot":    {of("0 1D", start), usual, State{settled: true, runners: runners(ready)}, "0", 0},
		"BackFromDraining":   {of("0 1d", start), usual, State{waiting: 1, working: 2, runners: runners(busy, drainingBusy)}, "0 1 2", 0},
		"NotFromDrained":     {of("0 1D", start), usual, State{waiting: 1, working: 1, runners: runners(busy, drainedIdle)}, "0 1D 2", 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, again := c.plan.Step(c.limits, c.state, start)
			if got.text() != c.want {
				t.Errorf("members %q, want %q", got.text(), c.want)
			}
			if c.again == 0 && !again.IsZero() || c.again != 0 && !again.Equal(start.Add(c.again)) {
				t.Errorf("again at %v, want after %v", again, c.again)
			}
		})
	}
}

func TestNewLimits(t *testing.T) {
	for _, c := range []struct {
		min, max, backlog, idle int
		want                    Limits
	}{
		{1, 4, 8, 60, Limits{min: 1, max: 4, perOne: 8, idle: time.Minute}},
		{6, 4, 0, 0, Limits{min: 4, max: 4, perOne: 1, idle: time.Second}},
		{0, 0, 1, 1, Limits{perOne: 1, idle: time.Second}},
	} {
		if got := NewLimits(c.min, c.max, c.backlog, c.idle); got != c.want {
			t.Errorf("NewLimits(%d, %d, %d, %d) = %+v, want %+v", c.min, c.max, c.backlog, c.idle, got, c.want)
		}
	}
}

// A member with four slots computes four requests at the same time.
func TestNeedCountsSlots(t *testing.T) {
	cases := map[string]struct {
		slots, perOne, waiting, working int
		want                            int
	}{
		"Nothing":            {4, 1, 0, 0, 0},
		"UnknownIsOne":       {0, 1, 2, 1, 3},
		"One":                {1, 1, 2, 1, 3},
		"OneWorks":           {4, 1, 0, 1, 1},
		"AllSlotsOfOneWork":  {4, 1, 0, 4, 1},
		"OneMoreThanOneHas":  {4, 1, 0, 5, 2},
		"WaitingFitsIn":      {4, 1, 3, 1, 1},
		"WaitingDoesNotFit":  {4, 1, 4, 1, 2},
		"FewWait":            {4, 8, 1, 0, 1},
		"BacklogOfOneMember": {4, 2, 8, 4, 2},
		"AtMost":             {4, 1, 100, 0, 9},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := State{waiting: c.waiting, working: c.working}
			if got := f.need(Limits{max: 9, perOne: c.perOne}, &Plan{Slots: c.slots}); got != c.want {
				t.Errorf("need = %d, want %d", got, c.want)
			}
		})
	}
}

// Slots that requests from elsewhere take are missing from the members that exist,
// and from no new ones.
func TestNeedCountsTakenSlots(t *testing.T) {
	taken := func(n int) runnerState { return runnerState{exists: true, ready: true, taken: n} }
	for name, c := range map[string]struct {
		members          []Member
		states           map[string]runnerState
		waiting, working int
		want             int
	}{
		"WaitingDoesNotFit": {of("0", start).Members, runners(taken(7)), 6, 1, 2},
		"ManyWait":          {of("0", start).Members, runners(taken(7)), 9, 1, 3},
		"OneSlotStays":      {of("0 1", start).Members, runners(taken(8), taken(8)), 1, 1, 2},
		"AnotherHasRoom":    {of("0 1", start).Members, runners(taken(7), taken(0)), 7, 2, 2},
		"FirstHasRoom":      {of("0 1", start).Members, runners(taken(0), taken(7)), 7, 1, 1},
		"NothingWaits":      {of("0 1", start).Members, runners(taken(7), taken(7)), 0, 0, 0},
		"DrainingHasNone":   {of("0d 1", start).Members, runners(taken(0), taken(7)), 6, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := State{waiting: c.waiting, working: c.working, runners: c.states}
			if got := s.need(Limits{max: 9, perOne: 1}, &Plan{Members: c.members, Slots: 8}); got != c.want {
				t.Errorf("need = %d, want %d", got, c.want)
			}
		})
	}
}

// Only the numbers of members that are needed now are renewed.
func TestRecordNeed(t *testing.T) {
	before := start.Add(-time.Hour)
	for need, want := range [][]time.Time{{before, before}, {start, before}, {start, start}, {start, start, start}} {
		p := Plan{NeededAt: []time.Time{before, before}}
		p.recordNeed(need, start)
		if !slices.Equal(p.NeededAt, want) {
			t.Errorf("need of %d members: %v, want %v", need, p.NeededAt, want)
		}
	}
}

// The slots of members are remembered while there are none.
func TestSlotsAreRemembered(t *testing.T) {
	l := Limits{max: 9, perOne: 1, idle: time.Minute}
	p := of("0", start.Add(-time.Hour))
	p, _ = p.Step(l, State{slots: 4, settled: true, runners: map[string]runnerState{"0": ready}}, start)
	p, _ = p.Step(l, State{settled: true}, start)
	p.MissingSince = start.Add(-time.Hour)
	if p, _ = p.Step(l, State{waiting: 8, settled: true}, start); p.active() != 2 || p.Slots != 4 {
		t.Errorf("%d members of %d slots for 8 requests, want 2 of 4", p.active(), p.Slots)
	}
	if p, _ = p.Step(l, State{waiting: 8, slots: 1, settled: true}, start.Add(time.Hour)); p.Slots != 0 {
		t.Errorf("%d slots are remembered of members that have one, want none", p.Slots)
	}
	before := Record{Plan: Plan{}, Saved: start}
	if !before.Outdated(Plan{Slots: 4}, l, start) || before.Outdated(Plan{}, l, start) {
		t.Error("a plan has to be kept when its slots have changed, and only then")
	}
}

func TestOnlyANeedThatLastsMakesMore(t *testing.T) {
	p := NewPlan(Limits{max: 4}, start)
	l := Limits{max: 4, perOne: 1, idle: time.Minute}
	f := State{waiting: 3}
	p, again := p.Step(l, f, start)
	if p.text() != "0" || !again.Equal(start.Add(patience)) {
		t.Fatalf("at once %q, again at %v; want the first at once and the others in a second", p.text(), again)
	}
	moment, _ := p.Step(l, State{waiting: 1}, start.Add(patience/2))
	if moment, _ = moment.Step(l, f, start.Add(patience)); moment.text() != "0" {
		t.Errorf("a need that did not last: %q", moment.text())
	}
	if p, _ = p.Step(l, f, again); p.text() != "0 1 2" {
		t.Errorf("a need that lasts: %q", p.text())
	}
}

func TestGrowthIsOneStep(t *testing.T) {
	p := of("0", start.Add(-time.Hour))
	l := Limits{min: 1, max: 64, perOne: 10, idle: time.Minute}
	if p, _ = p.Step(l, State{waiting: 60}, start); p.text() != "0 1 2 3 4 5" {
		t.Errorf("members %q, want all that are needed", p.text())
	}
}

// Only a plan with members has grown.
func TestNewPlanHasGrown(t *testing.T) {
	if p := NewPlan(Limits{min: 1, max: 8}, start); !p.GrownAt.Equal(start) {
		t.Errorf("a plan with a member has grown at %v, want %v", p.GrownAt, start)
	}
	if p := NewPlan(Limits{max: 8}, start); !p.GrownAt.IsZero() {
		t.Errorf("a plan without members has grown at %v", p.GrownAt)
	}
}

func TestNewPlanHasTheMinimum(t *testing.T) {
	if p := NewPlan(Limits{min: 6, max: 8}, start); p.text() != "0 1 2 3 4 5" || p.Next != 6 {
		t.Errorf("newPlan: %q, next %d", p.text(), p.Next)
	}
}

func TestRecoverPlanNeverReusesAName(t *testing.T) {
	p := RecoverPlan([]Member{{Name: "7", Phase: Active}, {Name: "10", Phase: Draining}, {Name: "9", Phase: Active}}, 0, start)
	if p.text() != "7 9 10d" || p.Next != 11 || !slices.Equal(p.NeededAt, []time.Time{start, start}) {
		t.Errorf("RecoverPlan: %q, next %d, needed at %v", p.text(), p.Next, p.NeededAt)
	}
	if p := RecoverPlan(nil, 5, start); p.Next != 5 {
		t.Errorf("recoverPlan of an empty pool: next %d, want 5", p.Next)
	}
}

func TestOrders(t *testing.T) {
	p := of("0 1d 2 3d", start)
	p.Members[2].DrainOrdered = true // it drained, and is active again
	got := p.Orders(State{runners: map[string]runnerState{"0": drainedIdle, "1": ready, "2": drainedIdle, "3": drainedIdle}})
	if len(got) != 2 || got["1"] != true || got["2"] != false {
		t.Errorf("orders %v: want 1 to drain and 2 not to; 0 stops for reasons of its own", got)
	}
}

// simulate runs a pool of fake runners against a load, one second a step,
// and checks at each step what must always hold.
type simulation struct {
	t       *testing.T
	limits  Limits
	plan    Plan
	now     time.Time
	runners map[string]*fakeRunner
	waiting int
	seen    map[string]bool // names that were ever used
	gone    map[string]bool // names that are not listed any more
	changes int
	adds    int
}

type fakeRunner struct {
	starts   time.Time // ready from then on
	until    time.Time // works until then; zero: idle
	draining bool
}

func newSimulation(t *testing.T, l Limits) *simulation {
	return &simulation{t: t, limits: l, plan: NewPlan(l, start), now: start, runners: map[string]*fakeRunner{}, seen: map[string]bool{}, gone: map[string]bool{}}
}

func (s *simulation) second(arrivals int, takes time.Duration) {
	s.t.Helper()
	s.now = s.now.Add(time.Second)
	s.waiting += arrivals
	f := State{runners: map[string]runnerState{}, settled: true}
	for name, r := range s.runners {
		if !r.until.IsZero() && !s.now.Before(r.until) {
			r.until = time.Time{}
		}
		if s.waiting > 0 && !r.draining && r.until.IsZero() && !s.now.Before(r.starts) {
			s.waiting--
			r.until = s.now.Add(takes)
		}
		working := !r.until.IsZero()
		if working {
			f.working++
		}
		f.runners[name] = runnerState{exists: true, ready: !s.now.Before(r.starts), working: working, draining: r.draining}
	}
	f.waiting = s.waiting
	before, active := s.plan.text(), s.plan.active()
	s.plan, _ = s.plan.Step(s.limits, f, s.now)
	for name, drain := range s.plan.Orders(f) {
		s.runners[name].draining = drain
	}
	s.check(before, active)
}

// check holds the plan against what must always be so, and does what Kubernetes
// would do about it.
func (s *simulation) check(before string, active int) {
	s.t.Helper()
	if s.plan.text() != before {
		s.changes++
	}
	listed := map[string]bool{}
	for _, m := range s.plan.Members {
		listed[m.Name] = true
		if s.gone[m.Name] {
			s.t.Fatalf("name %q is used again", m.Name)
		}
		if !s.seen[m.Name] {
			s.seen[m.Name] = true
			s.adds++
			s.runners[m.Name] = &fakeRunner{starts: s.now.Add(20 * time.Second)}
		}
		if m.Phase == Drained {
			if r := s.runners[m.Name]; r != nil && !r.until.IsZero() {
				s.t.Fatalf("member %q is removed while it works", m.Name)
			}
			delete(s.runners, m.Name)
		}
	}
	for name := range s.seen {
		if !listed[name] {
			s.gone[name] = true
			if s.runners[name] != nil {
				s.t.Fatalf("member %q is dropped without being drained", name)
			}
		}
	}
	if n := s.plan.active(); n > s.limits.max && n > active {
		s.t.Fatalf("grown from %d to %d members, at most %d are allowed", active, n, s.limits.max)
	}
}

func (s *simulation) run(seconds, arrivals int, takes time.Duration) {
	s.t.Helper()
	for range seconds {
		s.second(arrivals, takes)
	}
}

func TestBurstAndBack(t *testing.T) {
	s := newSimulation(t, usual)
	s.run(60, 0, 0)
	if s.changes > 1 {
		t.Errorf("%d changes at rest", s.changes)
	}
	s.run(1, 100, 10*time.Second)
	s.run(30, 0, 10*time.Second)
	if n := s.plan.active(); n != 4 {
		t.Errorf("%d members in a burst, want 4", n)
	}
	s.run(600, 0, 10*time.Second)
	if got := s.plan.text(); s.plan.active() != 1 || len(s.plan.Members) != 1 || s.waiting != 0 {
		t.Errorf("after the burst %q and %d waiting, want one member and nothing waiting", got, s.waiting)
	}
	if s.adds != 4 {
		t.Errorf("%d members were started for one burst, want 4", s.adds)
	}
}

// A load that goes up and down faster than the time of idleness starts no
// members again and again.
func TestNoFlapping(t *testing.T) {
	s := newSimulation(t, usual)
	for range 60 {
		s.run(1, 3, 5*time.Second)
		s.run(29, 0, 5*time.Second)
	}
	if s.adds > 4 {
		t.Errorf("%d members were started in half an hour of a steady wave, want at most 4", s.adds)
	}
	if s.changes > 12 {
		t.Errorf("the members changed %d times", s.changes)
	}
}

func TestPropertiesUnderAnyLoad(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		l := Limits{min: r.IntN(3), perOne: 1 + r.IntN(4), idle: time.Duration(1+r.IntN(90)) * time.Second}
		l.max = l.min + r.IntN(6)
		s := newSimulation(t, l)
		for range 40 {
			s.run(1+r.IntN(40), 0, 0)
			if r.IntN(3) == 0 { // a user scales
				s.limits.min = r.IntN(3)
				s.limits.max = s.limits.min + r.IntN(6)
			}
			s.run(1+r.IntN(3), r.IntN(8), time.Duration(r.IntN(60))*time.Second)
		}
		s.limits.max = max(s.limits.max, 1)
		s.run(3000, 0, 10*time.Second)
		if s.waiting > 0 {
			t.Errorf("seed %d: %d requests wait for ever", seed, s.waiting)
		}
		if n := len(s.plan.Members); n != s.limits.min {
			t.Errorf("seed %d: %q in the end, want %d members", seed, s.plan.text(), s.limits.min)
		}
	}
}

// The first member waits for a moment while others have room.
func TestRoomElsewhereDelaysTheFirstMember(t *testing.T) {
	l := Limits{max: 4, perOne: 1, idle: time.Minute}
	state := State{waiting: 1, room: true}
	p, again := Plan{}.Step(l, state, start)
	if p.text() != "" || !again.Equal(start.Add(patience)) {
		t.Errorf("members %q, again at %v", p.text(), again)
	}
	if p, _ = p.Step(l, state, start.Add(patience)); p.text() != "0" {
		t.Errorf("members %q when it still waits, want one", p.text())
	}
}
