// Package ingress composes an Ingress: the durable queue, the gateway and the
// dispatcher, and the way to them.
package ingress

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/outside"
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
)

// Ports of the gateway's and the dispatcher's pods.
const (
	portAPI    = "api"
	portHealth = "health"
)

// Compose answers one call for an Ingress.
func Compose(c *compose.Call) error {
	var i v1.Ingress
	if err := c.Composite(&i); err != nil {
		return err
	}
	p := &plan{Call: c, i: i, status: v1.IngressStatus{Status: v1.Status{ObservedGeneration: i.Generation}}}
	if err := p.run(); err != nil {
		return err
	}
	return c.SetStatus(&p.status)
}

// A plan is one composition of one Ingress.
type plan struct {
	*compose.Call
	i      v1.Ingress
	status v1.IngressStatus
}

func (p *plan) run() error {
	if blocked, err := p.queue(); err != nil || blocked {
		return err
	}
	if err := p.way(); err != nil {
		return err
	}
	gateway, err := p.deployment(resGateway, 1, p.gatewayPod())
	if err != nil {
		return err
	}
	dispatcher, err := p.deployment(resDispatcher, 2, p.dispatcherPod())
	if err != nil {
		return err
	}
	switch {
	case !gateway:
		p.False(v1.ConditionServing, reason.GatewayStarting, "Deployment %q has no ready pod yet", p.name(resGateway))
	case !dispatcher:
		p.False(v1.ConditionServing, reason.GatewayStarting, "Deployment %q has no ready pod yet", p.name(resDispatcher))
	default:
		p.True(v1.ConditionServing, reason.Available, "Requests are admitted at %s", p.status.URL)
	}
	return nil
}

// name of a composed object. No component is the end of another one's of the
// same kind, whoever composes it, so no two objects share a name.
func (p *plan) name(component string) string { return names.Object(p.i.Name, component) }
func (p *plan) busSecret() string            { return names.Object(p.i.Name, "ingress", "nats") }

func (p *plan) image() string {
	if p.i.Spec.Backend.Image != "" {
		return p.i.Spec.Backend.Image
	}
	return p.Image
}

// queue composes the streams and buckets that requests live in.
func (p *plan) queue() (blocked bool, err error) {
	ns := p.i.Namespace
	order := []string{"requests", "outcomes", "models", "tokens", "demand", "runners", "leases"}
	desired := map[string]any{
		"requests": outside.Requests(nil, ns, p.name("requests"), 1<<30, 1),
		"outcomes": outside.Outcomes(nil, ns, p.name("outcomes"), 1),
		"models":   outside.KeyValue(nil, ns, p.name("ingress-models"), names.ModelsBucket, p.busSecret(), 0),
		"tokens":   outside.KeyValue(nil, ns, p.name("ingress-tokens"), names.TokensBucket, "", 0),
		"demand":   outside.KeyValue(nil, ns, p.name("ingress-demand"), names.DemandBucket, "", outside.Markers),
		"runners":  outside.KeyValue(nil, ns, p.name("ingress-runners"), names.RunnersBucket, "", outside.Markers),
		"leases":   outside.KeyValue(nil, ns, p.name("ingress-leases"), names.LeasesBucket, "", outside.Markers),
	}
	for _, res := range order {
		ready, message := outside.Ready(p.Call, res)
		if err := p.Desire(res, desired[res], ready); err != nil {
			return false, err
		}
		if !bool(ready) && !blocked && !p.Exists(resGateway) {
			blocked = true
			p.False(v1.ConditionServing, reason.ConnectionPending, "Composed resource %q is not ready: %s", res, message)
		}
	}
	return blocked, nil
}

// deployment composes one of the two, and tells whether a pod of it is ready.
func (p *plan) deployment(res string, replicas int32, pod workload.Pod) (ready bool, err error) {
	var seen appsv1.Deployment
	ready = p.Observed(res, &seen) && seen.Status.ReadyReplicas > 0
	return ready, p.Desire(res, workload.Deployment(p.i.Namespace, p.name(res), replicas, pod), compose.Readiness(ready))
}

func (p *plan) gatewayPod() workload.Pod {
	b := p.i.Spec.Backend
	args := []string{
		"gateway",
		"--listen=:$(" + names.PortEnv(portAPI) + ")",
		"--health-listen=:$(" + names.PortEnv(portHealth) + ")",
		"--namespace=$(POD_NAMESPACE)",
		"--response-timeout=" + duration(b.ResponseTimeout, 10*time.Minute),
		"--queue-timeout=" + duration(b.QueueTimeout, time.Hour),
	}
	if b.AllowAnonymous {
		args = append(args, "--allow-anonymous")
	}
	return workload.Pod{
		Labels: workload.Labels("gateway", "ingress", p.i.Name),
		Ports:  map[string]int32{portAPI: 8082, portHealth: 8083},
		Containers: []workload.Container{{
			Name: "gateway", Image: p.image(), Args: args, Secrets: []string{p.busSecret()}, ProbePort: portHealth,
		}},
		GraceSeconds: 60,
	}
}

func (p *plan) dispatcherPod() workload.Pod {
	return workload.Pod{
		Labels: workload.Labels("dispatcher", "ingress", p.i.Name),
		Ports:  map[string]int32{portHealth: 8083},
		Containers: []workload.Container{{
			Name:      "dispatcher",
			Image:     p.image(),
			Args:      []string{"dispatcher", "--listen=:$(" + names.PortEnv(portHealth) + ")", "--identity=$(POD_NAMESPACE)_$(POD_NAME)"},
			Secrets:   []string{p.busSecret()},
			ProbePort: portHealth,
		}},
		GraceSeconds: 30,
	}
}

func duration(d *metav1.Duration, otherwise time.Duration) string {
	if d == nil {
		return otherwise.String()
	}
	return d.Duration.String()
}

// way composes the Service and the route from outside, and reports the URL.
func (p *plan) way() error {
	s := p.i.Spec.Service
	kind, port := corev1.ServiceType(s.Type), s.Port
	if kind == "" {
		kind = corev1.ServiceTypeClusterIP
	}
	if port == 0 {
		port = 8082
	}
	name := p.name(resGateway)
	labels := workload.Labels("gateway", "ingress", p.i.Name)
	if err := p.Desire(resService, workload.Service(p.i.Namespace, name, kind, labels, map[string]int32{portAPI: port}), compose.Ready); err != nil {
		return err
	}
	p.status.BackendServiceName = name
	p.status.URL = serviceURL(name, p.i.Namespace, port)
	if p.i.Spec.Route == nil {
		return nil
	}
	p.status.URL = "http://" + p.i.Spec.Route.Host + "/v1"
	return p.Desire(resRoute, p.route(name), compose.Ready)
}

func (p *plan) route(service string) *networkingv1.Ingress {
	r := p.i.Spec.Route
	prefix, path := networkingv1.PathTypePrefix, r.Path
	if path == "" {
		path = "/"
	}
	out := &networkingv1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.i.Namespace, Name: p.name("route"), Labels: workload.Labels("gateway", "ingress", p.i.Name)},
		Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{
			Host: r.Host,
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
				Path:     path,
				PathType: &prefix,
				Backend:  networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: service, Port: networkingv1.ServiceBackendPort{Name: portAPI}}},
			}}}},
		}}},
	}
	if r.IngressClassName != "" {
		out.Spec.IngressClassName = &r.IngressClassName
	}
	return out
}
