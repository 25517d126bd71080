package modelorchestra

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// An access is the way to the pods of a part: its Service, and the routes to it.
type access struct{ part }

// servicePorts of the Service: the given ones, or the defaults. The gateway's always have
// the port to which readers connect.
func (a access) servicePorts() []v1.OrchestraServicePort {
	out := slices.Clone(a.Service.Ports)
	switch {
	case len(out) > 0:
	case a.component == gateway:
		out = []v1.OrchestraServicePort{{Name: "http", Port: 80, TargetPort: "openai"}, {Name: "management", Port: 3001}, {Name: "inference", Port: 3000}}
	default:
		for _, p := range a.ports() {
			out = append(out, v1.OrchestraServicePort{Name: p.Name, Port: p.ContainerPort, Protocol: p.Protocol})
		}
	}
	internal := func(p v1.OrchestraServicePort) bool { return p.Name == portInternal || p.Port == a.internal }
	if a.component == gateway && !slices.ContainsFunc(out, internal) {
		out = append(out, v1.OrchestraServicePort{Name: portInternal, Port: a.internal})
	}
	return out
}

func (a access) service() *corev1.Service {
	s := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.name, Labels: a.labels(), Annotations: a.Service.Annotations},
		Spec:       corev1.ServiceSpec{Type: cmp.Or(a.Service.Type, corev1.ServiceTypeClusterIP), Selector: a.selector()},
	}
	for _, p := range a.servicePorts() {
		target := intstr.FromInt32(p.Port)
		if name := cmp.Or(p.TargetPort, p.Name); a.port(name) > 0 {
			target = intstr.FromString(name)
		}
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: p.Name, Port: p.Port, TargetPort: target, Protocol: cmp.Or(p.Protocol, corev1.ProtocolTCP)})
	}
	return s
}

// api is the port of the Service that serves the OpenAI-compatible API: http, or openai,
// or else the first.
func (a access) api() v1.OrchestraServicePort {
	ports := a.servicePorts()
	for _, name := range []string{"http", "openai"} {
		if i := slices.IndexFunc(ports, func(p v1.OrchestraServicePort) bool { return p.Name == name }); i >= 0 {
			return ports[i]
		}
	}
	return ports[0]
}

// url is the base URL of the API: that of the first host if there is a route, else that
// of the Service.
func (a access) url(routed bool) string {
	if hosts := a.Ingress.Hosts; routed && len(hosts) > 0 {
		scheme := "http"
		if len(a.Ingress.TLS) > 0 {
			scheme = "https"
		}
		return scheme + "://" + hosts[0].Host + "/v1"
	}
	return fmt.Sprintf("http://%s.%s.svc.cluster.local:%d/v1", a.name, a.namespace, a.api().Port)
}

func enabled(b *bool) bool { return b != nil && *b }

// routes returns the Ingress, or an HTTPRoute for each host, under the names of their
// composed resources. A route without a Service would lead nowhere.
func (a access) routes() map[string]any {
	if !enabled(a.Ingress.Enabled) || a.Service == nil {
		return nil
	}
	if len(a.Ingress.Gateways) == 0 {
		return map[string]any{"ingress": a.networkIngress()}
	}
	out := map[string]any{}
	for _, h := range a.Ingress.Hosts {
		id := names.Hash(8, h.Host)
		out["httproute-"+id] = a.httpRoute(names.Join(names.MaxLabel, a.name, id), h)
	}
	return out
}

// paths of a host; by default all.
func paths(h v1.OrchestraHost) []v1.OrchestraPath {
	if len(h.Paths) == 0 {
		return []v1.OrchestraPath{{Path: "/"}}
	}
	return h.Paths
}

func (a access) networkIngress() *networkingv1.Ingress {
	i := a.Ingress
	out := &networkingv1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.name, Labels: a.labels(), Annotations: i.Annotations},
	}
	if i.ClassName != "" {
		out.Spec.IngressClassName = &i.ClassName
	}
	backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: a.name, Port: networkingv1.ServiceBackendPort{Name: a.api().Name}}}
	for _, h := range i.Hosts {
		rule := &networkingv1.HTTPIngressRuleValue{}
		for _, p := range paths(h) {
			kind := networkingv1.PathType(cmp.Or(p.PathType, string(networkingv1.PathTypePrefix)))
			rule.Paths = append(rule.Paths, networkingv1.HTTPIngressPath{Path: p.Path, PathType: &kind, Backend: backend})
		}
		out.Spec.Rules = append(out.Spec.Rules, networkingv1.IngressRule{Host: h.Host, IngressRuleValue: networkingv1.IngressRuleValue{HTTP: rule}})
	}
	for _, t := range i.TLS {
		out.Spec.TLS = append(out.Spec.TLS, networkingv1.IngressTLS{SecretName: t.SecretName, Hosts: t.Hosts})
	}
	return out
}

// httpRoute is the HTTPRoute of one host.
func (a access) httpRoute(name string, h v1.OrchestraHost) *unstructured.Unstructured {
	var matches []any
	for _, p := range paths(h) {
		match := "PathPrefix"
		if p.PathType == string(networkingv1.PathTypeExact) {
			match = "Exact"
		}
		matches = append(matches, workload.PathMatch(match, p.Path))
	}
	return a.object("gateway.networking.k8s.io/v1", "HTTPRoute", name, a.Ingress.Annotations, map[string]any{
		"parentRefs": workload.ParentRefs(a.Ingress.Gateways),
		"hostnames":  []any{h.Host},
		"rules":      []any{workload.RouteRule(a.name, a.api().Port, matches...)},
	})
}

// monitor selects the Service of this gateway only.
func (a access) monitor() *unstructured.Unstructured {
	management := int64(cmp.Or(a.port("management"), 3001))
	return a.object("monitoring.coreos.com/v1", "ServiceMonitor", a.name, nil, map[string]any{
		"endpoints": []any{map[string]any{"interval": "15s", "path": "/metrics", "targetPort": management}},
		"selector":  map[string]any{"matchLabels": workload.AnyMap(a.selector())},
	})
}
