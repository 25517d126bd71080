package ingress

import (
	"cmp"
	"fmt"
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// route composes the Service and the route from outside the cluster, and reports
// the URL.
func (p *ingressPlan) route() (compose.Next, error) {
	s := p.i.Spec.Service
	kind, port := cmp.Or(corev1.ServiceType(s.Type), corev1.ServiceTypeClusterIP), servicePort(p.i)
	name := p.name(resGateway)
	service := workload.Service(p.i.Namespace, name, kind, p.labels(), map[string]int32{portAPI: port})
	service.Annotations = s.Annotations
	if err := p.Desire(resService, service, compose.Ready); err != nil {
		return compose.Stop, err
	}
	p.status.BackendServiceName = name
	p.status.URL = ServiceURL(p.i)
	r := p.i.Spec.Route
	if r == nil {
		return compose.Continue, nil
	}
	res, object := resRoute, any(p.networkIngress(name))
	if len(r.Gateways) > 0 {
		res, object = resHTTPRoute, p.httpRoute(name, port)
	}
	if err := p.Desire(res, object, compose.Ready); err != nil || !p.WillBeReady(res) {
		return compose.Continue, err // without a route only the Service leads to the gateway
	}
	scheme := "http"
	if len(r.TLS) > 0 {
		scheme = "https"
	}
	p.status.URL = scheme + "://" + r.Host + base(r.Path) + "/v1"
	p.status.IngressName = p.name("route")
	return compose.Continue, nil
}

func (p *ingressPlan) labels() map[string]string {
	return workload.Labels("gateway", "ingress", p.i.Name)
}

// networkIngress is the route of a cluster without the Gateway API.
func (p *ingressPlan) networkIngress(service string) *networkingv1.Ingress {
	r := p.i.Spec.Route
	kind := pathType(r.PathType)
	out := &networkingv1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.i.Namespace, Name: p.name("route"), Labels: p.labels(), Annotations: r.Annotations},
		Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{
			Host: r.Host,
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
				Path:     path(r.Path),
				PathType: &kind,
				Backend:  networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: service, Port: networkingv1.ServiceBackendPort{Name: portAPI}}},
			}}}},
		}}},
	}
	for _, t := range r.TLS {
		hosts := t.Hosts
		if len(hosts) == 0 {
			hosts = []string{r.Host}
		}
		out.Spec.TLS = append(out.Spec.TLS, networkingv1.IngressTLS{SecretName: t.SecretName, Hosts: hosts})
	}
	if r.IngressClassName != "" {
		out.Spec.IngressClassName = &r.IngressClassName
	}
	return out
}

// httpRoute is the HTTPRoute to the gateway, which has timeouts of its own and sends
// heartbeats.
func (p *ingressPlan) httpRoute(service string, port int32) *unstructured.Unstructured {
	r := p.i.Spec.Route
	match := "PathPrefix"
	if pathType(r.PathType) == networkingv1.PathTypeExact {
		match = "Exact"
	}
	meta := map[string]any{"namespace": p.i.Namespace, "name": p.name("route"), "labels": workload.AnyMap(p.labels())}
	if len(r.Annotations) > 0 {
		meta["annotations"] = workload.AnyMap(r.Annotations)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "gateway.networking.k8s.io/v1",
		"kind":       "HTTPRoute",
		"metadata":   meta,
		"spec": map[string]any{
			"parentRefs": workload.ParentRefs(r.Gateways),
			"hostnames":  []any{r.Host},
			"rules":      []any{workload.RouteRule(service, port, workload.PathMatch(match, path(r.Path)))},
		},
	}}
}

// base returns the path below which a route's path has the API, as if it were at the root; empty
// for the root itself. A route may lead to the API alone.
func base(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, "/"), "/v1")
}

func path(p string) string {
	if p == "" {
		return "/"
	}
	return p
}

func pathType(s string) networkingv1.PathType {
	switch strings.ToLower(s) {
	case "exact":
		return networkingv1.PathTypeExact
	case "implementationspecific":
		return networkingv1.PathTypeImplementationSpecific
	}
	return networkingv1.PathTypePrefix
}

// ServiceURL returns the base URL of an Ingress' API inside of the cluster.
func ServiceURL(i v1.Ingress) string {
	host := names.Object(i.Name, resGateway) + "." + i.Namespace + ".svc.cluster.local"
	return "http://" + net.JoinHostPort(host, fmt.Sprint(servicePort(i))) + "/v1"
}

func servicePort(i v1.Ingress) int32 { return cmp.Or(i.Spec.Service.Port, PortNumber) }
