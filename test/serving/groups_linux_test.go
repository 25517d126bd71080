package serving_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// TestGroups runs a workload on two groups with weights and a fallback, two runners
// each, while groups are killed and return. Each request ends once, and the fallback
// computes only while it is the only group that is ready.
func TestGroups(t *testing.T) {
	t.Parallel()
	tenants := []history.Tenant{history.NewTenant("amber"), history.NewTenant("birch")}
	g := &groupsRun{stack: newStack(t, plan{
		gateways: 1, dispatchers: 2, runners: 6, slots: 2, tenants: tenants,
		runnerArgs: []string{"--between=30s", "--first=30s"},
		groupArgs:  []string{"--group=stable --weight=90", "--group=canary --weight=10", "--group=outside --fallback"},
	})}
	g.bus = g.stack.broker.bus()
	h := &history.History{Slots: 2}
	ctx, stop := context.WithCancel(t.Context())
	w := newWorkload(g.stack, tenants)
	w.start(ctx, 8)
	answered := func(what string) {
		t.Helper()
		before := w.count()
		waittest.Until(t, "requests to be answered while "+what, func() bool { return w.count() >= before+40 })
	}
	// served checks that only some groups start requests, from when the latest answers
	// show that the dispatcher knows of the change until some more have been answered,
	// at least one by each: a group that is back may be given requests late.
	served := func(what string, want ...string) {
		t.Helper()
		answered(what)
		waittest.Until(t, "answers only by "+strings.Join(want, " and ")+" while "+what, func() bool { return w.onlyBy(20, want) })
		from := time.Now()
		answered(what)
		waittest.Until(t, "answers by each of "+strings.Join(want, " and ")+" while "+what, func() bool { return w.eachBy(from, want) })
		g.phases = append(g.phases, phase{what, from, time.Now(), want})
	}
	served("all are ready", "stable", "canary")
	h.Disturb(false, func() { g.halt(t, "stable") })
	served("stable is gone", "canary")
	h.Disturb(false, func() { g.halt(t, "canary") })
	served("both are gone", "outside")
	h.Disturb(false, func() { g.stack.leader(t).kill() })
	served("both are gone and another dispatcher leads", "outside")
	h.Disturb(false, func() { g.start(t, "canary") })
	served("canary is back", "canary")
	h.Disturb(false, func() { g.start(t, "stable") })
	served("all are back", "stable", "canary")
	stop()
	w.wait(h)
	g.stack.collect(t, h)
	h.Verify(t, history.EndsOnce, history.OneGeneration, history.NothingLost, history.TenantsIsolated)
	for _, p := range g.phases {
		p.check(t, h.Outcomes)
	}
}

// onlyBy reports whether the latest n answers that name their member name one of
// the groups.
func (w *workload) onlyBy(n int, groups []string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range slices.Backward(w.entries) {
		name := member(e)
		if name == "" {
			continue
		}
		if !slices.Contains(groups, name) {
			return false
		}
		if n--; n == 0 {
			return true
		}
	}
	return false
}

// eachBy reports whether each of the groups has answered a request that was sent after
// from, according to the answers that name their member.
func (w *workload) eachBy(from time.Time, groups []string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	missing := slices.Clone(groups)
	for _, e := range slices.Backward(w.entries) {
		if e.Ended.Before(from) {
			break
		}
		if e.Verdict == history.OK && e.Invoked.After(from) {
			missing = slices.DeleteFunc(missing, func(group string) bool { return group == member(e) })
		}
	}
	return len(missing) == 0
}

// member returns the group that an answer names, or "" if it names none.
func member(e history.Entry) string {
	_, rest, _ := bytes.Cut(e.Received, []byte("X-Koldun-Member: "))
	name, _, _ := bytes.Cut(rest, []byte("\r\n"))
	return string(name)
}

// groupsRun has runners of three groups: runner i belongs to group i modulo 3.
type groupsRun struct {
	stack  *stack
	bus    *bus.Bus
	phases []phase
}

func runnersOf(group string) []int {
	first := map[string]int{"stable": 0, "canary": 1, "outside": 2}[group]
	return []int{first, first + 3}
}

// halt kills the sidecars of a group, and returns when no dispatcher counts on them.
func (g *groupsRun) halt(t *testing.T, group string) {
	t.Helper()
	for _, i := range runnersOf(group) {
		g.stack.sidecars[i].halt()
	}
	g.ready(t, group, false)
}

// start starts the sidecars of a group, and returns when they are ready.
func (g *groupsRun) start(t *testing.T, group string) {
	t.Helper()
	for _, i := range runnersOf(group) {
		g.stack.sidecars[i].start()
	}
	g.ready(t, group, true)
}

func (g *groupsRun) ready(t *testing.T, group string, want bool) {
	t.Helper()
	for _, i := range runnersOf(group) {
		key := names.RunnerKey(names.Session(namespace, modelName, ""), fmt.Sprintf("r%d", i))
		waittest.Until(t, fmt.Sprintf("runner %d of %s to be ready: %t", i, group, want), func() bool {
			r, _, err := bus.Get[queue.Runner](t.Context(), g.bus, names.RunnersBucket, key)
			return want == (err == nil && r.State != queue.RunnerStarting)
		})
	}
}

// A phase is a time in which only some groups may start requests.
type phase struct {
	what     string
	from, to time.Time
	groups   []string
}

// check compares the groups of the requests that started within the phase.
func (p phase) check(t *testing.T, outcomes map[string][]queue.Outcome) {
	t.Helper()
	got := map[string]int{}
	for _, all := range outcomes {
		for _, o := range all {
			if o.State == queue.Completed && o.Started.After(p.from) && o.Started.Before(p.to) {
				got[o.Group]++
			}
		}
	}
	t.Logf("%-44s %v", p.what, got)
	for _, group := range p.groups {
		if got[group] == 0 {
			t.Errorf("%s: group %q started none: %v", p.what, group, got)
		}
		delete(got, group)
	}
	if len(got) > 0 {
		t.Errorf("%s: other groups than %v started requests: %v", p.what, p.groups, got)
	}
}
