package aideployment

import (
	"cmp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// endpoints are the domains that lead to a Service.
type endpoints struct {
	d        *v1.AIDeployment
	settings v1.AIDeploymentIngress
	to       backend
}

// endpoints composes what leads from the domains to the Service. Without domains
// there is nothing.
func (p *plan) endpoints(to backend) error {
	if len(p.d.Spec.Endpoint) == 0 {
		return nil
	}
	e := endpoints{d: p.d, to: to}
	if i := p.d.Spec.Ingress; i != nil {
		e.settings = *i
	}
	p.status.Endpoints = e.urls()
	if r := p.d.Spec.Route; r == nil || len(r.ParentRefs) == 0 {
		return p.Desire(resIngress, e.ingress(), compose.Ready)
	}
	for res, route := range e.httpRoutes() {
		if err := p.Desire(res, route, compose.Ready); err != nil {
			return err
		}
	}
	return nil
}

func (e endpoints) urls() (out []string) {
	scheme := "http://"
	if e.settings.TLS {
		scheme = "https://"
	}
	for _, one := range e.d.Spec.Endpoint {
		out = append(out, scheme+one.Domain+strings.TrimSuffix(one.Path, "/"))
	}
	return out
}

func (e endpoints) ingress() *networkingv1.Ingress {
	i := e.settings
	out := &networkingv1.Ingress{
		TypeMeta:   object("Ingress", "networking.k8s.io/v1"),
		ObjectMeta: metav1.ObjectMeta{Namespace: e.d.Namespace, Name: name(e.d), Labels: with(i.Labels, labels(e.d)), Annotations: annotations(e.d, i.Annotations)},
	}
	if i.ClassName != "" {
		out.Spec.IngressClassName = &i.ClassName
	}
	to := networkingv1.IngressServiceBackend{Name: e.to.name, Port: networkingv1.ServiceBackendPort{Number: e.to.port}}
	var hosts []string
	for _, one := range e.d.Spec.Endpoint {
		hosts = append(hosts, one.Domain)
		out.Spec.Rules = append(out.Spec.Rules, networkingv1.IngressRule{
			Host: one.Domain,
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
				Path: cmp.Or(one.Path, "/"), PathType: ptr(networkingv1.PathTypePrefix),
				Backend: networkingv1.IngressBackend{Service: &to},
			}}}},
		})
	}
	if i.TLS {
		out.Spec.TLS = []networkingv1.IngressTLS{{Hosts: hosts, SecretName: cmp.Or(i.TLSSecretName, e.d.Name+"-tls")}}
	}
	return out
}

// httpRoutes are the HTTPRoutes that lead to the domains, by the names of their composed
// resources: one, or one for each domain if they have different paths, because an
// HTTPRoute serves each of its paths on each of its hosts.
func (e endpoints) httpRoutes() map[string]*unstructured.Unstructured {
	var hosts []string
	paths := map[string][]string{}
	for _, one := range e.d.Spec.Endpoint {
		if paths[one.Domain] == nil {
			hosts = append(hosts, one.Domain)
		}
		if path := cmp.Or(one.Path, "/"); !slices.Contains(paths[one.Domain], path) {
			paths[one.Domain] = append(paths[one.Domain], path)
		}
	}
	other := func(host string) bool {
		return !slices.Equal(slices.Sorted(slices.Values(paths[host])), slices.Sorted(slices.Values(paths[hosts[0]])))
	}
	if !slices.ContainsFunc(hosts, other) {
		return map[string]*unstructured.Unstructured{resHTTPRoute: e.httpRoute(name(e.d), hosts, paths[hosts[0]])}
	}
	out := map[string]*unstructured.Unstructured{}
	for _, host := range hosts {
		id := names.Hash(8, host)
		out[resHTTPRoute+"-"+id] = e.httpRoute(component(e.d, id), []string{host}, paths[host])
	}
	return out
}

func (e endpoints) httpRoute(name string, hosts, paths []string) *unstructured.Unstructured {
	var hostnames, rules []any
	for _, host := range hosts {
		hostnames = append(hostnames, host)
	}
	for _, path := range paths {
		rules = append(rules, workload.RouteRule(e.to.name, e.to.port, workload.PathMatch("PathPrefix", path)))
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "gateway.networking.k8s.io/v1",
		"kind":       "HTTPRoute",
		"metadata": map[string]any{
			"namespace": e.d.Namespace, "name": name,
			"labels": workload.AnyMap(with(e.settings.Labels, labels(e.d))), "annotations": workload.AnyMap(annotations(e.d, e.settings.Annotations)),
		},
		"spec": map[string]any{"parentRefs": workload.ParentRefs(e.d.Spec.Route.ParentRefs), "hostnames": hostnames, "rules": rules},
	}}
}
