// Package ingress composes an Ingress: the durable queue, the gateway and the
// dispatcher, the way to them, and the pools that demand makes.
package ingress

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/queue"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// Names of the composed resources.
const (
	resGateway    = "gateway"
	resService    = "service"
	resDispatcher = "dispatcher"
	resRoute      = "route"
	resHTTPRoute  = "httproute"
	resTokens     = "tokenset"
	resDemand     = "demanded"
	resHash       = "hash-secret"
	resBudget     = "budget"
)

// portAPI names the port of the API.
const portAPI = "api"

// dispatchers of an Ingress: one leads, one stands by.
const dispatchers = 2

// Compose answers one call for an Ingress.
func Compose(c *compose.Call) error {
	var i v1.Ingress
	if err := c.Composite(&i); err != nil {
		return err
	}
	c.Legacy(legacy(i.Spec.Backend))
	p := &plan{Call: c, i: i, status: v1.IngressStatus{Status: v1.Status{ObservedGeneration: i.Generation}}}
	if err := p.run(); err != nil {
		return err
	}
	return c.SetStatus(&p.status)
}

// A plan is one composition of one Ingress.
type plan struct {
	*compose.Call
	i        v1.Ingress
	status   v1.IngressStatus
	via      managed.Via
	blocking bool
}

func (p *plan) run() error {
	if blocked, err := p.connect(); err != nil || blocked {
		return err
	}
	if blocked, err := p.queue(); err != nil || blocked {
		return err
	}
	for _, step := range []func() error{p.way, p.tokens, p.sessions, p.hashSecret} {
		if err := step(); err != nil {
			return err
		}
	}
	gateway, err := p.deployment(resGateway, p.replicas(), p.gatewayPod())
	if err != nil {
		return err
	}
	dispatcher, err := p.deployment(resDispatcher, dispatchers, p.dispatcherPod())
	if err != nil {
		return err
	}
	switch {
	case !gateway || !dispatcher:
		p.fail(reason.GatewayStarting, "Deployments %q and %q have no ready pods yet", p.name(resGateway), p.name(resDispatcher))
	case !p.blocking:
		p.True(v1.ConditionServing, reason.Available, "Requests are admitted at %s", p.status.URL)
	}
	return nil
}

func (p *plan) fail(why reason.Reason, format string, args ...any) {
	if !p.blocking {
		p.blocking = true
		p.False(v1.ConditionServing, why, format, args...)
	}
}

// name of a composed object. No component is the end of another one's of the
// same kind, whoever composes it, so no two objects share a name.
func (p *plan) name(component string) string { return names.Object(p.i.Name, component) }
func (p *plan) busSecret() string            { return connection.BusSecret("ingress", p.i.Name) }

func (p *plan) image() string {
	if p.i.Spec.Backend.Image != "" {
		return p.i.Spec.Backend.Image
	}
	return p.Image
}

func (p *plan) replicas() int32 { return max(p.i.Spec.Backend.Replicas, 1) }

// connect composes the connection to NATS. What is there stays when that
// cannot be made out.
func (p *plan) connect() (blocked bool, err error) {
	nats, problem := connection.OfIngress(&p.i)
	if problem.Message == "" {
		p.via, err = nats.Compose(p.Call, connection.Owner{Kind: "ingress", Namespace: p.i.Namespace, Name: p.i.Name})
		return false, err
	}
	p.fail(problem.Reason, "%s", problem.Message)
	p.via, err = connection.Keep(p.Call, queue.Resource)
	return !p.Exists(resGateway), err
}

func (p *plan) parts() queue.Queue {
	return queue.Queue{Via: p.via, Namespace: p.i.Namespace, Name: p.name("ingress-queue"), Secret: p.busSecret(), Spec: p.i.Spec.Backend.Queue}
}

// queue composes the streams and buckets that requests live in.
func (p *plan) queue() (blocked bool, err error) {
	pending, err := p.parts().Compose(p.Call)
	if err != nil || pending == "" || p.Exists(resGateway) {
		return false, err
	}
	p.fail(reason.ConnectionPending, "%s", pending)
	return true, nil
}

// deployment composes one of the two, and tells whether a pod of it is ready.
func (p *plan) deployment(res string, replicas int32, pod workload.Pod) (ready bool, err error) {
	b := p.i.Spec.Backend
	pod.PullPolicy, pod.Scheduling = b.ImagePullPolicy, b.BackendScheduling
	for i := range pod.Containers {
		pod.Containers[i].Resources = queue.ResourcesOf(b.Resources)
	}
	ready = p.ReadyReplicas(res) > 0
	if replicas > 1 {
		budget := workload.Budget(p.i.Namespace, p.name(res), pod.Labels)
		if err := p.Desire(res+"-"+resBudget, budget, compose.Ready); err != nil {
			return false, err
		}
	}
	return ready, p.Desire(res, workload.Deployment(p.i.Namespace, p.name(res), replicas, pod), compose.Readiness(ready))
}

func (p *plan) dispatcherPod() workload.Pod {
	image := p.i.Spec.Backend.DispatcherImage
	if image == "" {
		image = p.image()
	}
	return p.parts().Dispatcher(image, workload.Labels("dispatcher", "ingress", p.i.Name))
}

// legacy says which fields without effect are given. Names of buckets are
// fixed, so only others than those are told.
func legacy(b v1.Backend) map[string]bool {
	out := map[string]bool{"spec.backend.dispatcherMetricsListen": b.DispatcherMetricsListen != ""}
	if q := b.Queue; q != nil {
		out["spec.backend.queue.stateStream"] = q.StateStream != ""
	}
	if s := b.SessionScaling; s != nil {
		out["spec.backend.sessionScaling.activeRequests"] = s.ActiveRequests != 0
	}
	if n := b.NATS; n != nil {
		out["spec.backend.nats.kvBucket"] = n.KVBucket != ""
		out["spec.backend.nats.ttlPrefix"] = n.TTLPrefix != ""
		out["spec.backend.nats.modelsBucket"] = other(n.ModelsBucket, names.ModelsBucket)
		out["spec.backend.nats.tokensBucket"] = other(n.TokensBucket, names.TokensBucket)
		out["spec.backend.nats.modelPrefix"] = other(n.ModelPrefix, "model/")
		out["spec.backend.nats.tokenPrefix"] = other(n.TokenPrefix, "token/")
	}
	return out
}

func other(given, fixed string) bool { return given != "" && given != fixed }
