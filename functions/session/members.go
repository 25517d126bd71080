package session

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/pool"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// scaling reads the size from the fields of today and from those they replace.
func scaling(s v1.SessionSpec) v1.Scaling {
	out := s.Scaling
	if s.MinIdle != nil {
		out.MinDllamas = s.MinIdle
	}
	if s.MaxWorkers != nil {
		out.MaxDllamas = *s.MaxWorkers
	}
	return out
}

// members composes the Pool, and counts the members that it has.
func (p *sessionPlan) members() (compose.Next, error) {
	size := scaling(p.s.Spec)
	state, err := pool.Pool{
		Via: p.via, Namespace: p.s.Namespace, Name: p.s.Name, Key: p.status.Key,
		Size: pool.SizeOf(size, p.s.Spec.Traffic), Scaling: size,
		Model: p.s.Spec.ModelRef, Runtime: p.s.Spec.Runtime, Traffic: p.s.Spec.Traffic,
	}.Compose(p.Call)
	if err != nil {
		return compose.Stop, err
	}
	if state.Numbers != nil {
		p.numbers(*state.Numbers)
	}
	if state.Pending != "" {
		p.Fail(reason.ConnectionPending, "%s", state.Pending)
	}
	p.trouble, p.why = state.Trouble, state.Why
	for _, m := range state.Members {
		p.count(m)
	}
	return compose.Continue, nil
}

func (p *sessionPlan) numbers(o v1alpha1.PoolObservation) {
	backlog := o.Backlog
	p.status.Backlog, p.status.InFlight, p.status.ActiveRequests = &backlog, o.InFlight, o.Backlog+o.InFlight
	p.status.BusyWorkers, p.status.AvailableWorkers = o.BusyRunners, o.IdleRunners
	p.status.LastActivity = o.LastActivity
}

// count counts one member.
func (p *sessionPlan) count(m v1alpha1.PoolMember) {
	w := v1.SessionWorker{Name: names.Member(p.s.Name, m.Name), Phase: "Pending", Ready: m.Ready, Healthy: m.Ready}
	switch {
	case m.Phase == v1alpha1.PoolDraining:
		w.Phase = "Terminating"
	case w.Ready:
		w.Phase = "Ready"
	}
	p.status.Dllamas++
	if w.Ready {
		p.status.ReadyDllamas++
		p.status.ReadyWorkers += m.ReadyWorkers
	}
	p.status.Workers = append(p.status.Workers, w)
}
