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

// servicePorts of the Service: the given ones, or the defaults. The gateway's always have
// the port to which readers connect.
func (w part) servicePorts() []v1.OrchestraServicePort {
	out := slices.Clone(w.Service.Ports)
	switch {
	case len(out) > 0:
	case w.component == gateway:
		out = []v1.OrchestraServicePort{{Name: "http", Port: 80, TargetPort: "openai"}, {Name: "management", Port: 3001}, {Name: "inference", Port: 3000}}
	default:
		for _, p := range w.ports() {
			out = append(out, v1.OrchestraServicePort{Name: p.Name, Port: p.ContainerPort, Protocol: p.Protocol})
		}
	}
	internal := func(p v1.OrchestraServicePort) bool { return p.Name == portInternal || p.Port == w.internal }
	if w.component == gateway && !slices.ContainsFunc(out, internal) {
		out = append(out, v1.OrchestraServicePort{Name: portInternal, Port: w.internal})
	}
	return out
}

func (w part) service() *corev1.Service {
	s := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name, Labels: w.labels(), Annotations: w.Service.Annotations},
		Spec:       corev1.ServiceSpec{Type: cmp.Or(w.Service.Type, corev1.ServiceTypeClusterIP), Selector: w.selector()},
	}
	for _, p := range w.servicePorts() {
		target := intstr.FromInt32(p.Port)
		if name := cmp.Or(p.TargetPort, p.Name); w.port(name) > 0 {
			target = intstr.FromString(name)
		}
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: p.Name, Port: p.Port, TargetPort: target, Protocol: cmp.Or(p.Protocol, corev1.ProtocolTCP)})
	}
	return s
}

// api is the port of the Service that serves the OpenAI-compatible API: http, or openai,
// or else the first.
func (w part) api() v1.OrchestraServicePort {
	ports := w.servicePorts()
	for _, name := range []string{"http", "openai"} {
		if i := slices.IndexFunc(ports, func(p v1.OrchestraServicePort) bool { return p.Name == name }); i >= 0 {
			return ports[i]
		}
	}
	return ports[0]
}

// url is the base URL of the API: that of the first host if there is a route, else that
// of the Service.
func (w part) url(routed bool) string {
	if hosts := w.Ingress.Hosts; routed && len(hosts) > 0 {
		scheme := "http"
		if len(w.Ingress.TLS) > 0 {
			scheme = "https"
		}
		return scheme + "://" + hosts[0].Host + "/v1"
	}
	return fmt.Sprintf("http://%s.%s.svc.cluster.local:%d/v1", w.name, w.namespace, w.api().Port)
}

func enabled(b *bool) bool { return b != nil && *b }

// routes returns the Ingress, or an HTTPRoute for each host, under the names of their
// composed resources. A route without a Service would lead nowhere.
func (w part) routes() map[string]any {
	if !enabled(w.Ingress.Enabled) || w.Service == nil {
		return nil
	}
	if len(w.Ingress.Gateways) == 0 {
		return map[string]any{"ingress": w.networkIngress()}
	}
	out := map[string]any{}
	for _, h := range w.Ingress.Hosts {
		id := names.Hash(8, h.Host)
		out["httproute-"+id] = w.httpRoute(names.Join(names.MaxLabel, w.name, id), h)
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

func (w part) networkIngress() *networkingv1.Ingress {
	i := w.Ingress
	out := &networkingv1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name, Labels: w.labels(), Annotations: i.Annotations},
	}
	if i.ClassName != "" {
		out.Spec.IngressClassName = &i.ClassName
	}
	backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: w.name, Port: networkingv1.ServiceBackendPort{Name: w.api().Name}}}
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
func (w part) httpRoute(name string, h v1.OrchestraHost) *unstructured.Unstructured {
	var matches []any
	for _, p := range paths(h) {
		match := "PathPrefix"
		if p.PathType == string(networkingv1.PathTypeExact) {
			match = "Exact"
		}
		matches = append(matches, workload.PathMatch(match, p.Path))
	}
	return w.object("gateway.networking.k8s.io/v1", "HTTPRoute", name, w.Ingress.Annotations, map[string]any{
		"parentRefs": workload.ParentRefs(w.Ingress.Gateways),
		"hostnames":  []any{h.Host},
		"rules":      []any{workload.RouteRule(w.name, w.api().Port, matches...)},
	})
}

// monitor selects the Service of this gateway only.
func (w part) monitor() *unstructured.Unstructured {
	management := int64(cmp.Or(w.port("management"), 3001))
	return w.object("monitoring.coreos.com/v1", "ServiceMonitor", w.name, nil, map[string]any{
		"endpoints": []any{map[string]any{"interval": "15s", "path": "/metrics", "targetPort": management}},
		"selector":  map[string]any{"matchLabels": workload.AnyMap(w.selector())},
	})
}

// object is one of a kind whose Go types are not ours.
func (w part) object(apiVersion, kind, name string, annotations map[string]string, spec map[string]any) *unstructured.Unstructured {
	meta := map[string]any{"namespace": w.namespace, "name": name, "labels": workload.AnyMap(w.labels())}
	if len(annotations) > 0 {
		meta["annotations"] = workload.AnyMap(annotations)
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": meta, "spec": spec}}
}
