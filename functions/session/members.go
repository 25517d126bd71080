package session

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	managed "github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/outside"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// A size is how large a pool is, at least and at most.
type size struct{ min, max int32 }

// sizeOf reads the size in the new way and the old one.
func sizeOf(s v1.SessionSpec) size {
	out := size{min: 1, max: s.Scaling.MaxDllamas}
	if n := s.Scaling.MinDllamas; n != nil {
		out.min = *n
	}
	if s.MinIdle != nil {
		out.min = *s.MinIdle
	}
	if s.MaxWorkers != nil {
		out.max = *s.MaxWorkers
	}
	if out.max <= 0 || out.max > maxMembers {
		out.max = maxMembers
	}
	out.min = min(out.min, out.max)
	if n := s.Scaling.DesiredDllamas; n != nil {
		out = size{min: min(*n, maxMembers), max: min(*n, maxMembers)}
	}
	return out
}

// members are what the Pool says, from its first word on. Until then they are
// what is there already, and at least what there always is, so that a new pool
// does not wait for the Pool to be observed.
func (p *plan) members() ([]managed.PoolMember, error) {
	found, known, err := p.pool()
	if err != nil {
		return nil, err
	}
	if known {
		return found, nil
	}
	there := map[string]bool{}
	for n := range p.size.min {
		there[memberName(n)] = true
	}
	for res := range p.Resources(memberPrefix) {
		there[strings.TrimPrefix(res, memberPrefix)] = true
	}
	out := make([]managed.PoolMember, 0, len(there))
	for _, name := range slices.SortedFunc(maps.Keys(there), byNumber) {
		out = append(out, managed.PoolMember{Name: name, Phase: managed.PoolActive})
	}
	return out, nil
}

// byNumber orders 2 before 10, and names that are no numbers last.
func byNumber(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	if errX != nil || errY != nil || x == y {
		return strings.Compare(a, b)
	}
	return x - y
}

// pool composes the Pool and returns the members that it wants.
func (p *plan) pool() (members []managed.PoolMember, known bool, err error) {
	s := p.s.Spec.Scaling
	want := &managed.Pool{
		TypeMeta:   metav1.TypeMeta{APIVersion: managed.APIVersion, Kind: managed.KindPool},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.s.Namespace, Name: names.Object(p.s.Name, "pool")},
		Spec: managed.PoolSpec{
			ManagedResourceSpec: outside.Managed(p.via, xpv2.ManagementActionObserve),
			ForProvider: managed.PoolParameters{
				Session:              p.status.Key,
				MinMembers:           p.size.min,
				MaxMembers:           p.size.max,
				ScaleUpBacklog:       max(s.ScaleUpBacklog, 1),
				ScaleDownIdleSeconds: or(s.ScaleDownIdleSeconds, 300),
				Owner:                p.s.Namespace + "/" + p.s.Name,
			},
		},
	}
	ready, _ := outside.Ready(p.Call, resPool)
	pending, err := outside.Await(p.Call, map[string]any{resPool: want})
	if err != nil {
		return nil, false, err
	}
	var seen managed.Pool
	if p.Observed(resPool, &seen) && len(seen.Status.Conditions) > 0 && bool(ready) {
		known = true
		p.numbers(seen.Status.AtProvider)
		for _, m := range seen.Status.AtProvider.Members {
			if m.Phase != managed.PoolDrained && len(members) < 2*maxMembers {
				members = append(members, m)
			}
		}
		slices.SortFunc(members, func(a, b managed.PoolMember) int { return byNumber(a.Name, b.Name) })
	}
	if !known && !p.Exists(memberPrefix+memberName(0)) && p.size.min == 0 {
		p.fail(reason.ConnectionPending, "%s", pending)
	}
	return members, known, nil
}

// numbers are copied for a Session that somebody made. One of an Ingress keeps
// them in its Pool: each change would be one more for everything above it.
func (p *plan) numbers(o managed.PoolObservation) {
	if p.s.Labels[v1.LabelIngress] != "" {
		return
	}
	backlog := o.Backlog
	p.status.Backlog, p.status.InFlight, p.status.ActiveRequests = &backlog, o.InFlight, o.Backlog+o.InFlight
	p.status.BusyWorkers, p.status.AvailableWorkers = o.BusyRunners, o.IdleRunners
	p.status.LastActivity = o.LastActivity
}

// compose composes the members and counts them. One that serves makes the pool
// ready: others come and go.
func (p *plan) compose(members []managed.PoolMember) error {
	for _, m := range members {
		p.count(m)
	}
	for i, m := range members {
		ready := p.status.ReadyDllamas > 0 || p.status.Workers[i].Ready
		if err := p.Desire(memberPrefix+m.Name, p.member(m.Name), compose.Readiness(ready)); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) count(m managed.PoolMember) {
	res := memberPrefix + m.Name
	state := p.Condition(res, v1.ConditionServing)
	w := v1.SessionWorker{Name: p.memberName(m.Name), Phase: "Pending", Ready: state.Status == metav1.ConditionTrue}
	w.Healthy = w.Ready
	switch {
	case m.Phase == managed.PoolDraining:
		w.Phase = "Terminating"
	case w.Ready:
		w.Phase = "Ready"
	case reason.Final(state.Reason):
		p.fail(reason.DllamasStarting, "Dllama %q is not ready: %s: %s", w.Name, state.Reason, state.Message)
	}
	p.status.Dllamas++
	if w.Ready {
		p.status.ReadyDllamas++
		p.status.ReadyWorkers += p.Number(res, "readyWorkers")
	}
	p.status.Workers = append(p.status.Workers, w)
}

func or(n, otherwise int32) int32 {
	if n <= 0 {
		return otherwise
	}
	return n
}
