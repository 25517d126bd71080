package dllama

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/internal/names"
)

// A connected Dllama has what it needs in NATS.
type connected struct {
	via     managed.Via
	desired map[string]any // managed resources, by the names of the composed resources
}

// connect composes the connection to NATS, if anything but the pods needs it, and returns
// what else is needed there before the model can be served. user names the composed resource
// that uses the connection, and member the Dllama in the registry. url is the folder of the
// files. What runs stays when it is not ready.
func (d *dllama) connect(up upstream, user, member, url string) (out connected, next compose.Next, err error) {
	exposes := d.Spec.Expose != nil
	if exposes && !d.ingress.admitted() && !d.running() {
		d.failIngress()
		return out, compose.Stop, nil
	}
	out.desired = map[string]any{}
	if d.account().ID == "" && !d.usesNATS() {
		return out, compose.Continue, nil
	}
	if out.via, next, err = d.connectNATS(user); err != nil || next == compose.Stop {
		return out, next, err
	}
	out.desired = up.registers(out.via)
	if out.desired == nil {
		out.desired = map[string]any{}
	}
	if !exposes {
		name := names.Object(d.Name, "dllama", "runners")
		out.desired[resRunners] = managed.KeyValue(out.via, d.Namespace, name, d.busSecret(), managed.Expiring(names.RunnersBucket))
	}
	if d.records() {
		out.desired[resRecord] = recordOf(d.claim, out.via, url)
	}
	if d.weighted() {
		name := names.Object(d.Name, "dllama", "member")
		out.desired[resMember] = managed.Member(out.via, d.Namespace, name, member, *d.Spec.Traffic, d.served())
	}
	return out, compose.Continue, nil
}

// connectNATS composes the connection to NATS.
func (d *dllama) connectNATS(user string) (managed.Via, compose.Next, error) {
	nats, problem := connection.NATS(d.Call, d.owner(), "spec.nats", d.natsConnection())
	via, err := nats.ComposeOrKeep(d.Call, d.owner(), problem, user)
	if err != nil {
		return nil, compose.Stop, err
	}
	if problem.Message != "" {
		d.Fail(problem.Reason, "%s", problem.Message)
		if !d.Exists(user) { // what runs does not use the connection yet
			d.keepRunning()
			return nil, compose.Stop, nil
		}
	}
	return via, compose.Continue, nil
}

// await reports what is pending, unless something runs already, which stays.
func (d *dllama) await(pending managed.Pending) compose.Next {
	if !pending.Any() || d.running() {
		return compose.Continue
	}
	d.Fail(pending.Reason, "%s", pending.Message)
	return compose.Stop
}

// recordOf lists a Model of another namespace in this one, or the model of an engine
// without a Model, so that requests here can name it. The members of a Session share the
// entry, so none of them deletes it.
func recordOf(c claim, via managed.Via, url string) *v1alpha1.ModelRecord {
	r := managed.Record(via, c.Namespace, names.Object(c.Name, "dllama", "record"), c.model().Name, url)
	if c.Labels[v1.LabelSession] != "" {
		r.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
	}
	return r
}
