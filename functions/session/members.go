package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// A size is how large a pool is, at least and at most.
type size struct{ min, max int32 }

// sizeOf reads the size from the fields of today and from those they replace.
func sizeOf(s v1.SessionSpec) size {
	out := size{min: defaultMinDllamas, max: s.Scaling.MaxDllamas}
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
	if t := s.Traffic; t != nil && t.Weight != nil && *t.Weight == 0 {
		out.max = out.min // more of them would take nothing, either
	}
	if n := s.Scaling.DesiredDllamas; n != nil {
		out = size{min: min(*n, maxMembers), max: min(*n, maxMembers)}
	}
	return out
}

// members composes the Pool, which keeps a Dllama for each member, and counts
// those that it has. The Session does not compose them itself: each change of
// each one would be an event for the Session, and Crossplane limits these.
func (p *sessionPlan) members() (compose.Next, error) {
	template, err := p.template()
	if err != nil {
		return compose.Stop, err
	}
	s := p.s.Spec.Scaling
	want := &v1alpha1.Pool{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindPool},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.s.Namespace, Name: names.Object(p.s.Name, "pool")},
		Spec: v1alpha1.PoolSpec{
			ManagedResourceSpec: managed.Spec(p.via),
			ForProvider: v1alpha1.PoolParameters{
				Session:              p.status.Key,
				MinMembers:           p.size.min,
				MaxMembers:           p.size.max,
				ScaleUpBacklog:       max(s.ScaleUpBacklog, defaultScaleUpBacklog),
				ScaleDownIdleSeconds: positiveOr(s.ScaleDownIdleSeconds, defaultScaleDownIdleSeconds),
				Owner:                p.s.Namespace + "/" + p.s.Name,
				Dllama:               template,
			},
		},
	}
	var seen v1alpha1.Pool
	if p.Observed(resPool, &seen) && len(seen.Status.Conditions) > 0 {
		p.numbers(seen.Status.AtProvider)
	}
	var members []v1alpha1.PoolMember
	serves := false
	for _, m := range seen.Status.AtProvider.Members {
		if m.Phase != v1alpha1.PoolDrained && len(members) < 2*maxMembers {
			members = append(members, m)
			serves = serves || m.Ready
		}
	}
	slices.SortFunc(members, func(a, b v1alpha1.PoolMember) int { return byNumber(a.Name, b.Name) })
	ready, trouble := managed.Ready(p.Call, resPool)
	if trouble != "" || !bool(ready) && len(members) == 0 {
		p.Fail(reason.ConnectionPending, "%s", pending(trouble))
	}
	for _, m := range members {
		p.count(m)
	}
	// One that serves makes the pool ready: others come and go.
	return compose.Continue, p.Desire(resPool, want, ready && compose.Readiness(serves || len(members) == 0))
}

func pending(trouble string) string {
	if trouble == "" {
		return "The pool of Dllamas is being prepared"
	}
	return fmt.Sprintf("Composed resource %q is not ready: %s", resPool, trouble)
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

func (p *sessionPlan) numbers(o v1alpha1.PoolObservation) {
	backlog := o.Backlog
	p.status.Backlog, p.status.InFlight, p.status.ActiveRequests = &backlog, o.InFlight, o.Backlog+o.InFlight
	p.status.BusyWorkers, p.status.AvailableWorkers = o.BusyRunners, o.IdleRunners
	p.status.LastActivity = o.LastActivity
}

// count counts one member.
func (p *sessionPlan) count(m v1alpha1.PoolMember) {
	w := v1.SessionWorker{Name: p.memberName(m.Name), Phase: "Pending", Ready: m.Ready, Healthy: m.Ready}
	switch {
	case m.Phase == v1alpha1.PoolDraining:
		w.Phase = "Terminating"
	case w.Ready:
		w.Phase = "Ready"
	case reason.Final(m.Reason) || reason.OfPods(m.Reason):
		p.Fail(reason.DllamasStarting, "Dllama %q is not ready: %s: %s", w.Name, m.Reason, m.Message)
	}
	p.status.Dllamas++
	if w.Ready {
		p.status.ReadyDllamas++
		p.status.ReadyWorkers += m.ReadyWorkers
	}
	p.status.Workers = append(p.status.Workers, w)
}

func positiveOr(n, otherwise int32) int32 {
	if n <= 0 {
		return otherwise
	}
	return n
}
