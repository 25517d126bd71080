// Package ingress composes an Ingress: the durable queue, the gateway and the
// dispatcher, the way to them, and the pools that demand makes.
package ingress

import (
	"cmp"
	"fmt"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/platform"
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
	resGuard      = "guard"
)

// portAPI names the port of the API.
const portAPI = "api"

// PortNumber is that of the API on pods of gateways, and on their Services unless the
// Ingress says another one.
const PortNumber = 8082

// dispatchers of an Ingress: one leads, one stands by.
const dispatchers = 2

// Compose answers one call for an Ingress.
func Compose(c *compose.Call) error {
	var i v1.Ingress
	if err := c.Composite(&i); err != nil {
		return err
	}
	c.Legacy(legacy(i.Spec.Backend))
	p := &ingressPlan{Plan: compose.Plan{Call: c}, i: i, status: v1.IngressStatus{Status: v1.Status{ObservedGeneration: i.Generation}}}
	steps := []compose.Step{p.allow, p.connect, p.queue, p.route, p.tokens, p.sessions, p.hashSecret, p.deployments}
	if err := p.Run(steps...); err != nil {
		return err
	}
	return c.Finish(&p.status)
}

// An ingressPlan is one composition of one Ingress.
type ingressPlan struct {
	compose.Plan
	i      v1.Ingress
	status v1.IngressStatus
	via    managed.Via       // set by the step connect
	logins connection.Logins // set by the step queue
}

// name of a composed object. No two composites of a namespace give two objects
// of a kind one name, because no component's name ends in another's.
func (p *ingressPlan) name(component string) string { return names.Object(p.i.Name, component) }
func (p *ingressPlan) busSecret() string            { return connection.BusSecret("ingress", p.i.Name) }

func (p *ingressPlan) image() string   { return cmp.Or(p.i.Spec.Backend.Image, p.Image) }
func (p *ingressPlan) replicas() int32 { return max(p.i.Spec.Backend.Replicas, defaultReplicas) }

func (p *ingressPlan) owner() connection.Owner {
	return connection.Owner{Kind: "ingress", Namespace: p.i.Namespace, Name: p.i.Name}
}

// allow refuses what the platform team keeps to itself.
func (p *ingressPlan) allow() (compose.Next, error) {
	b := p.i.Spec.Backend
	return p.Allow(p.i.Namespace, append(platform.Runtime("spec.backend", b.Runtime), platform.Gateway("spec.backend", b.GatewaySettings)...)...), nil
}

// connect composes the connection to NATS. If there is none, what exists stays.
func (p *ingressPlan) connect() (compose.Next, error) {
	owner := p.owner()
	nats, problem := connection.OfIngress(&p.i)
	var err error
	p.via, err = nats.ComposeOrKeep(p.Call, owner, problem, queue.Resource)
	if err != nil || problem.Message == "" {
		return compose.Continue, err
	}
	p.Fail(problem.Reason, "%s", problem.Message)
	if p.Exists(resGateway) {
		return compose.Continue, nil
	}
	return compose.Stop, nil
}

func (p *ingressPlan) parts() queue.Queue {
	return queue.Queue{Via: p.via, Namespace: p.i.Namespace, Name: p.name("ingress-queue"), Secret: p.busSecret(), Spec: p.i.Spec.Backend.Queue, Responses: p.i.Spec.Backend.Responses}
}

// queue composes the streams and buckets that requests live in, and the users of the pods.
func (p *ingressPlan) queue() (compose.Next, error) {
	pending, err := p.parts().Compose(p.Call)
	if err != nil {
		return compose.Stop, err
	}
	account := connection.AccountOf(p.Call, queue.Resource)
	p.status.NATSAccount, p.status.NATSPorts = account.ID, connection.Ports(p.Call, queue.Resource)
	logins, waiting, err := connection.Users(p.Call, p.via, p.owner(), account, connection.Gateway(), connection.Dispatcher())
	p.logins, pending = logins, cmp.Or(pending, waiting)
	if err != nil || !pending.Any() || p.Exists(resGateway) {
		return compose.Continue, err
	}
	p.FailIf(pending.Reason, pending.Message)
	return compose.Stop, nil
}

// deployments composes the gateway and the dispatcher.
func (p *ingressPlan) deployments() (compose.Next, error) {
	gateway, err := p.deployment(resGateway, p.replicas(), p.gatewayPod())
	if err != nil {
		return compose.Stop, err
	}
	dispatcher, err := p.deployment(resDispatcher, dispatchers, p.dispatcherPod())
	if err != nil {
		return compose.Stop, err
	}
	if err := p.guard(); err != nil {
		return compose.Stop, err
	}
	problem, err := managed.Watch(p.Call, p.i.Namespace, p.name("ingress-pods"), workload.Owner("ingress", p.i.Name))
	if err != nil {
		return compose.Stop, err
	}
	if err := p.protect(gateway && dispatcher); err != nil {
		return compose.Stop, err
	}
	if !gateway || !dispatcher {
		p.FailIf(problem.Reason, problem.Message)
	}
	switch {
	case !gateway && !dispatcher:
		p.Fail(reason.GatewayStarting, "Deployments %q and %q have no ready pods yet", p.name(resGateway), p.name(resDispatcher))
	case !gateway:
		p.Fail(reason.GatewayStarting, "Deployment %q has no ready pod yet", p.name(resGateway))
	case !dispatcher:
		p.Fail(reason.GatewayStarting, "Deployment %q has no ready pod yet", p.name(resDispatcher))
	}
	p.Serve(reason.Available, "Requests are admitted at %s", p.status.URL)
	return compose.Continue, nil
}

// deployment composes one of the two, and reports whether a pod of it is ready.
func (p *ingressPlan) deployment(res string, replicas int32, pod workload.Pod) (ready bool, err error) {
	b := p.i.Spec.Backend
	pod.PullPolicy, pod.Scheduling = b.ImagePullPolicy, b.BackendScheduling
	pod.Env = workload.EnvOf(b.BackendEnv, b.BackendEnvFrom)
	for i := range pod.Containers {
		pod.Containers[i].Resources = queue.ResourcesOf(b.Resources)
	}
	ready = p.ReadyPods(res) > 0
	return ready, p.Desire(res, workload.Deployment(p.i.Namespace, p.name(res), replicas, pod), compose.Readiness(ready))
}

// guard lets others reach the API and health of the pods, and the pods what is outside.
func (p *ingressPlan) guard() error {
	b := p.i.Spec.Backend
	if !workload.Guarded(b.NetworkPolicy) {
		return nil
	}
	doors := []workload.Door{{Port: PortNumber}, {Port: queue.HealthNumber}}
	out := connection.Egress{
		Policy: resGuard, Scheduling: b.BackendScheduling, Systems: [][]int32{p.status.NATSPorts},
		Ports: workload.EnvOf(b.BackendEnv, b.BackendEnvFrom).Ports(),
	}
	return p.Desire(resGuard, workload.Guard(p.i.Namespace, p.name("ingress-pods"), workload.Owner("ingress", p.i.Name), doors, out.Ways(p.Call)), compose.Ready)
}

// protect keeps a drain from evicting all pods of a Deployment, from when the
// Ingress first serves. Before that there is nothing to protect, and each pod that
// starts would change the status of the budget, which is an event for the Ingress.
func (p *ingressPlan) protect(serves bool) error {
	for res, replicas := range map[string]int32{resGateway: p.replicas(), resDispatcher: dispatchers} {
		name := res + "-" + resBudget
		if replicas < 2 || !serves && !p.Exists(name) {
			continue
		}
		budget := workload.Budget(p.i.Namespace, p.name(res), workload.Labels(res, "ingress", p.i.Name))
		if err := p.Desire(name, budget, compose.Ready); err != nil {
			return err
		}
	}
	return nil
}

func (p *ingressPlan) dispatcherPod() workload.Pod {
	return p.parts().Dispatcher(cmp.Or(p.i.Spec.Backend.DispatcherImage, p.image()), workload.Labels("dispatcher", "ingress", p.i.Name), p.logins.Dispatcher())
}

// Legacy says which fields without effect are given, at which path.
func Legacy(path string, g v1.GatewaySettings) map[string]bool {
	out := workload.Withheld(path+".backendEnv", g.BackendEnv)
	for i, ignored := range ignoredArgs(g.ExtraArgs) {
		out[fmt.Sprintf("%s.extraArgs[%d]", path, i)] = ignored
	}
	if q := g.Queue; q != nil {
		out[path+".queue.stateStream"] = q.StateStream != ""
	}
	return out
}

// legacy says which fields of a backend without effect are given. Names of buckets are
// fixed: one that is given as it is has no entry.
func legacy(b v1.Backend) map[string]bool {
	out := Legacy("spec.backend", b.GatewaySettings)
	out["spec.backend.dispatcherMetricsListen"] = b.DispatcherMetricsListen != ""
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
