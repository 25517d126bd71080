package dllama

import (
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/pool"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// composePool composes the Pool of a Dllama that is scaled. All checks have passed
// before, so a claim that cannot be served fails while its pool is empty, and not
// at the first request. Each Dllama of the pool watches its pods.
func (d *dllama) composePool(plan nodePlan, up upstream, waits managed.Pending) error {
	if waits.Any() {
		d.wait(waits, managed.Pods{})
		return nil
	}
	if _, next := d.deliver(plan); next == compose.Stop {
		return nil
	}
	name := pool.OfDllama(d.Call, d.Name)
	c, next, err := d.connect(up, pool.Resource, d.member(pool.Group(name)), plan.artifact.URL)
	if err != nil || next == compose.Stop {
		return err
	}
	pending, err := managed.Await(d.Call, c.desired)
	if err != nil || d.await(pending) == compose.Stop {
		return err
	}
	scaling := *d.Spec.Expose.Scaling
	size := pool.SizeOf(scaling, d.Spec.Traffic)
	state, err := pool.Pool{
		Via: c.via, Namespace: d.Namespace, Name: name, Key: names.Session(d.Namespace, d.served(), ""),
		Size: size, Scaling: scaling, Model: d.model(), Runtime: d.Spec.Runtime, Traffic: d.Spec.Traffic,
	}.Compose(d.Call)
	if err != nil {
		return err
	}
	d.reportPool(name, size, state)
	return nil
}

// reportPool sets the status and the condition by the members that are ready.
func (d *dllama) reportPool(name string, size pool.Size, state pool.State) {
	ready := 0
	for _, m := range state.Members {
		if m.Ready {
			ready++
			d.status.ReadyWorkers += m.ReadyWorkers
		}
	}
	d.status.ReadyRoot = ready > 0
	d.status.URL = d.ingress.Status.URL
	switch {
	case state.Pending != "":
		d.Fail(reason.ConnectionPending, "%s", state.Pending)
	case ready == 0 && state.Trouble != "":
		d.Fail(state.Why, "%s", state.Trouble)
	case ready == 0 && len(state.Members) > 0 && size.Min > 0:
		d.Fail(reason.DllamasStarting, "Dllama %q is not ready", names.Member(name, state.Members[0].Name))
	case !d.ingress.serves():
		d.failIngress()
	case len(state.Members) == 0:
		d.Serve(reason.Idle, "The pool is empty: the first request for %s starts a Dllama", d.status.Model)
	case ready == 0:
		// An empty pool serves, and so does one that grows from zero: requests wait.
		d.Serve(reason.Available, "The first Dllama starts, and requests for %s wait for it", d.status.Model)
	case state.Trouble != "":
		// One that serves is enough: the pool may want more than the cluster has room for.
		d.Serve(reason.Available, "%d of %d Dllamas serve %s. %s", ready, len(state.Members), d.status.Model, state.Trouble)
	default:
		d.Serve(reason.Available, "%d of %d Dllamas serve %s%s", ready, len(state.Members), d.status.Model, d.unchanged())
	}
}
