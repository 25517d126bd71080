package dllama

import (
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/pool"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// pool composes the Pool of a Dllama that is scaled. All checks have passed
// before, so a claim that cannot be served fails while its pool is empty, and not
// at the first request.
func (p *dllamaPlan) pool() (compose.Next, error) {
	if !p.scaled() {
		return compose.Continue, nil
	}
	scaling := *p.Spec.Expose.Scaling
	size, name := pool.SizeOf(scaling, p.Spec.Traffic), p.poolName()
	state, err := pool.Pool{
		Via: p.via, Namespace: p.Namespace, Name: name, Key: names.Session(p.Namespace, p.served(), ""),
		Size: size, Scaling: scaling,
		Model:   p.model(),
		Runtime: p.Spec.Runtime, Traffic: p.Spec.Traffic,
	}.Compose(p.Call)
	if err != nil {
		return compose.Stop, err
	}
	ready := p.countMembers(state.Members)
	p.status.URL = p.ingress.Status.URL
	switch {
	case state.Pending != "":
		p.Fail(reason.ConnectionPending, "%s", state.Pending)
	case ready == 0 && state.Trouble != "":
		p.Fail(state.Why, "%s", state.Trouble)
	case ready == 0 && len(state.Members) > 0 && size.Min > 0:
		p.Fail(reason.DllamasStarting, "Dllama %q is not ready", names.Member(name, state.Members[0].Name))
	case !p.ingress.serves():
		p.failIngress()
	case len(state.Members) == 0:
		p.Serve(reason.Idle, "The pool is empty: the first request for %s starts a Dllama", p.status.Model)
	case ready == 0:
		// An empty pool serves, and so does one that grows from zero: requests wait.
		p.Serve(reason.Available, "The first Dllama starts, and requests for %s wait for it", p.status.Model)
	case state.Trouble != "":
		// One that serves is enough: the pool may want more than the cluster has room for.
		p.Serve(reason.Available, "%d of %d Dllamas serve %s. %s", ready, len(state.Members), p.status.Model, state.Trouble)
	default:
		p.Serve(reason.Available, "%d of %d Dllamas serve %s%s", ready, len(state.Members), p.status.Model, p.unchanged())
	}
	return compose.Stop, nil
}

// poolName begins the names of the members.
func (p *dllamaPlan) poolName() string { return pool.OfDllama(p.Call, p.Name) }

// countMembers reports the members that are ready in the status, and returns their number.
func (p *dllamaPlan) countMembers(members []v1alpha1.PoolMember) (ready int) {
	for _, m := range members {
		if m.Ready {
			ready++
			p.status.ReadyRoot = true
			p.status.ReadyWorkers += m.ReadyWorkers
		}
	}
	return ready
}
