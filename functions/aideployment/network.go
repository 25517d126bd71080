package aideployment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// gatewayPort is the port of the Service in front of a gateway.
const gatewayPort = 8082

// service composes the Service in front of the pods.
func (p *plan) service() (compose.Next, error) {
	s := p.d.Spec.Service
	if s == nil {
		s = &v1.AIDeploymentService{}
	}
	out := workload.Service(p.d.Namespace, p.name(), corev1.ServiceType(cmp.Or(s.Type, "ClusterIP")), p.selector(), map[string]int32{portHTTP: p.port})
	out.Spec.Ports[0].TargetPort = intstr.FromInt32(p.port) // a template may name the port otherwise
	out.Labels, out.Annotations = with(s.Labels, p.labels()), p.annotations(s.Annotations)
	p.serveOn(p.port)
	return compose.Continue, p.Desire(resService, out, compose.Ready)
}

// serveOn sets the port of the Service.
func (p *plan) serveOn(port int32) {
	p.port = port
	p.status.URL = fmt.Sprintf("http://%s.%s.svc.cluster.local:%d", p.name(), p.d.Namespace, port)
}

func (p *plan) annotations(given map[string]string) map[string]string {
	return with(given, map[string]string{v1.LabelPremDeployment: p.name()})
}

// with returns a map with the entries of both; those of the second win.
func with(a, b map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// backend is the Service that the domains lead to: that of what exists, if it is kept.
func (p *plan) backend() (name string, port int32) {
	queued := p.queued()
	alone := p.Exists(resDeployment) || p.Exists(resService)
	if p.kept && queued != p.Exists(resDllama) && !queued != alone {
		queued = !queued
	}
	if queued {
		return names.Object(p.name(), "gateway"), gatewayPort
	}
	return p.name(), p.port
}

// endpoints composes what leads from the domains to the Service. Without domains
// there is nothing.
func (p *plan) endpoints() (compose.Next, error) {
	endpoints := p.d.Spec.Endpoint
	if len(endpoints) == 0 {
		return compose.Continue, nil
	}
	i := p.d.Spec.Ingress
	if i == nil {
		i = &v1.AIDeploymentIngress{}
	}
	scheme := "http://"
	if i.TLS {
		scheme = "https://"
	}
	p.status.Endpoints = nil
	for _, e := range endpoints {
		p.status.Endpoints = append(p.status.Endpoints, scheme+e.Domain+strings.TrimSuffix(e.Path, "/"))
	}
	if r := p.d.Spec.Route; r != nil && len(r.ParentRefs) > 0 {
		for res, route := range p.httpRoutes(r.ParentRefs, *i) {
			if err := p.Desire(res, route, compose.Ready); err != nil {
				return compose.Stop, err
			}
		}
		return compose.Continue, nil
	}
	return compose.Continue, p.Desire(resIngress, p.networkIngress(*i), compose.Ready)
}

func (p *plan) networkIngress(i v1.AIDeploymentIngress) *networkingv1.Ingress {
	name, port := p.backend()
	out := &networkingv1.Ingress{
		TypeMeta:   object("Ingress", "networking.k8s.io/v1"),
		ObjectMeta: metav1.ObjectMeta{Namespace: p.d.Namespace, Name: p.name(), Labels: with(i.Labels, p.labels()), Annotations: p.annotations(i.Annotations)},
	}
	if i.ClassName != "" {
		out.Spec.IngressClassName = &i.ClassName
	}
	var hosts []string
	for _, e := range p.d.Spec.Endpoint {
		hosts = append(hosts, e.Domain)
		out.Spec.Rules = append(out.Spec.Rules, networkingv1.IngressRule{
			Host: e.Domain,
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
				Path: cmp.Or(e.Path, "/"), PathType: ptr(networkingv1.PathTypePrefix),
				Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: name, Port: networkingv1.ServiceBackendPort{Number: port}}},
			}}}},
		})
	}
	if i.TLS {
		out.Spec.TLS = []networkingv1.IngressTLS{{Hosts: hosts, SecretName: cmp.Or(i.TLSSecretName, p.d.Name+"-tls")}}
	}
	return out
}

// httpRoutes are the HTTPRoutes that lead to the domains, by the names of their composed
// resources: one, or one for each domain if they have different paths, because an
// HTTPRoute serves each of its paths on each of its hosts.
func (p *plan) httpRoutes(parents []v1.GatewayReference, i v1.AIDeploymentIngress) map[string]*unstructured.Unstructured {
	var hosts []string
	paths := map[string][]string{}
	for _, e := range p.d.Spec.Endpoint {
		if paths[e.Domain] == nil {
			hosts = append(hosts, e.Domain)
		}
		if path := cmp.Or(e.Path, "/"); !slices.Contains(paths[e.Domain], path) {
			paths[e.Domain] = append(paths[e.Domain], path)
		}
	}
	other := func(host string) bool {
		return !slices.Equal(slices.Sorted(slices.Values(paths[host])), slices.Sorted(slices.Values(paths[hosts[0]])))
	}
	if !slices.ContainsFunc(hosts, other) {
		return map[string]*unstructured.Unstructured{resHTTPRoute: p.httpRoute(p.name(), hosts, paths[hosts[0]], parents, i)}
	}
	out := map[string]*unstructured.Unstructured{}
	for _, host := range hosts {
		id := names.Hash(8, host)
		out[resHTTPRoute+"-"+id] = p.httpRoute(p.component(id), []string{host}, paths[host], parents, i)
	}
	return out
}

func (p *plan) httpRoute(name string, hosts, paths []string, parents []v1.GatewayReference, i v1.AIDeploymentIngress) *unstructured.Unstructured {
	service, port := p.backend()
	var hostnames, rules []any
	for _, host := range hosts {
		hostnames = append(hostnames, host)
	}
	for _, path := range paths {
		rules = append(rules, workload.RouteRule(service, port, workload.PathMatch("PathPrefix", path)))
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "gateway.networking.k8s.io/v1",
		"kind":       "HTTPRoute",
		"metadata": map[string]any{
			"namespace": p.d.Namespace, "name": name,
			"labels": workload.AnyMap(with(i.Labels, p.labels())), "annotations": workload.AnyMap(p.annotations(i.Annotations)),
		},
		"spec": map[string]any{"parentRefs": workload.ParentRefs(parents), "hostnames": hostnames, "rules": rules},
	}}
}
