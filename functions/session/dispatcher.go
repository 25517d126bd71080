package session

import (
	"cmp"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/queue"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// dispatcher is the component of a Session's own dispatcher.
const dispatcher = "dispatcher"

// dispatchers of a Session: one leads, one stands by.
const dispatchers = 2

// dispatch composes a dispatcher, unless that of an Ingress leads the session:
// of the Ingress that created it, or of one of its namespace.
func (p *sessionPlan) dispatch() (compose.Next, error) {
	if p.ledByIngress() {
		p.led = true
		return compose.Continue, nil
	}
	q := queue.Queue{
		Via:       p.via,
		Namespace: p.s.Namespace,
		Name:      names.Object(p.s.Name, "session", "queue"),
		Secret:    connection.BusSecret("session", p.s.Name),
	}
	pending, err := q.Compose(p.Call)
	if err != nil {
		return compose.Stop, err
	}
	logins, waiting, err := connection.Users(p.Call, p.via, p.owner(), connection.AccountOf(p.Call, queue.Resource), connection.Dispatcher())
	if err != nil {
		return compose.Stop, err
	}
	pending = cmp.Or(pending, waiting)
	if !p.Exists(resDispatcher) {
		if pending.Any() {
			p.FailIf(pending.Reason, pending.Message)
		}
		if p.Failed() {
			return compose.Continue, nil
		}
	}
	pod := q.Dispatcher(cmp.Or(p.s.Spec.DispatcherImage, p.Image), workload.Labels(dispatcher, "session", p.s.Name), logins.Dispatcher())
	pod.PullPolicy, pod.Scheduling = p.s.Spec.ImagePullPolicy, p.s.Spec.Scheduling
	pod.Env = workload.EnvOf(p.s.Spec.Env, p.s.Spec.EnvFrom)
	if workload.Guarded(p.s.Spec.NetworkPolicy) {
		out := connection.Egress{Policy: resGuard, Scheduling: p.s.Spec.Scheduling, Systems: [][]int32{connection.Ports(p.Call, queue.Resource)}, Ports: pod.Env.Ports()}
		policy := workload.Guard(p.s.Namespace, p.dispatcherName(), pod.Labels, []workload.Door{{Port: queue.HealthNumber}}, out.Ways(p.Call))
		if err := p.Desire(resGuard, policy, compose.Ready); err != nil {
			return compose.Stop, err
		}
	}
	p.led = p.ReadyPods(resDispatcher) > 0
	problem, err := managed.Watch(p.Call, p.s.Namespace, names.Object(p.s.Name, "session", "pods"), pod.Labels)
	if err != nil {
		return compose.Stop, err
	}
	if !p.led {
		p.FailIf(problem.Reason, problem.Message)
	}
	return compose.Continue, p.Desire(resDispatcher, workload.Deployment(p.s.Namespace, p.dispatcherName(), dispatchers, pod), compose.Readiness(p.led))
}

// ledByIngress reports whether the dispatcher of an Ingress leads the session.
// Until Crossplane has looked for Ingresses, it counts as led, unless the
// Session has a dispatcher already.
func (p *sessionPlan) ledByIngress() bool {
	if p.s.Labels[v1.LabelIngress] != "" {
		return true
	}
	if p.s.Spec.NATS != nil {
		return false
	}
	found := 0
	known := p.RequireAll("ingresses", v1.APIVersion, v1.KindIngress, p.s.Namespace, nil, func() any {
		found++
		return &v1.Ingress{}
	})
	return found > 0 || !known && !p.Exists(resDispatcher)
}

func (p *sessionPlan) dispatcherName() string { return names.Object(p.s.Name, "leader") }
