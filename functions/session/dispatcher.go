package session

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/queue"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// dispatchers of a Session: one leads, one stands by.
const dispatchers = 2

// lead composes a dispatcher, unless an Ingress leads the session: the one
// that made it, or one of its namespace.
func (p *plan) lead() (led bool, err error) {
	if p.s.Labels[v1.LabelIngress] != "" {
		return true, nil
	}
	if p.s.Spec.NATS == nil {
		found := 0
		known := p.RequireAll("ingresses", v1.APIVersion, v1.KindIngress, p.s.Namespace, nil, func() any {
			found++
			return &v1.Ingress{}
		})
		if found > 0 || !known && !p.Exists(resDispatcher) {
			return true, nil
		}
	}
	q := queue.Queue{
		Via:       p.via,
		Namespace: p.s.Namespace,
		Name:      names.Object(p.s.Name, "session", "queue"),
		Secret:    connection.BusSecret("session", p.s.Name),
	}
	pending, err := q.Compose(p.Call)
	if err != nil {
		return false, err
	}
	if pending != "" && !p.Exists(resDispatcher) {
		p.fail(reason.ConnectionPending, "%s", pending)
	}
	if p.blocking && !p.Exists(resDispatcher) {
		return false, nil
	}
	image := p.s.Spec.DispatcherImage
	if image == "" {
		image = p.Image
	}
	pod := q.Dispatcher(image, workload.Labels("dispatcher", "session", p.s.Name))
	pod.PullPolicy, pod.Scheduling = p.s.Spec.ImagePullPolicy, p.s.Spec.Scheduling
	led = p.ReadyReplicas(resDispatcher) > 0
	return led, p.Desire(resDispatcher, workload.Deployment(p.s.Namespace, p.dispatcherName(), dispatchers, pod), compose.Readiness(led))
}

func (p *plan) dispatcherName() string { return names.Object(p.s.Name, "leader") }
