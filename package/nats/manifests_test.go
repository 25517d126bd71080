// Package nats_test checks the manifests of NATS for production, and runs servers from
// their configuration.
package nats_test

import (
	"regexp"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/gorizond/koldun/internal/nats/natsauth/bootstrap"
	"github.com/gorizond/koldun/package/manifesttest"
)

// namespace of all objects.
const namespace = "nats"

// manifests are the objects of this folder.
type manifests struct {
	namespace   corev1.Namespace
	account     corev1.ServiceAccount
	role        rbacv1.Role
	binding     rbacv1.RoleBinding
	job         batchv1.Job
	config      corev1.ConfigMap
	clients     corev1.Service
	headless    corev1.Service
	disruptions policyv1.PodDisruptionBudget
	servers     appsv1.StatefulSet
	network     networkingv1.NetworkPolicy
	jobNetwork  networkingv1.NetworkPolicy
}

// read decodes every object strictly: a wrong field is an error.
func read(t *testing.T) *manifests {
	t.Helper()
	m := &manifests{}
	into := map[string]any{
		"Namespace nats": &m.namespace, "ServiceAccount nats-bootstrap": &m.account, "Role nats-bootstrap": &m.role,
		"RoleBinding nats-bootstrap": &m.binding, "Job nats-bootstrap": &m.job, "ConfigMap nats-config": &m.config, "Service nats": &m.clients,
		"Service nats-headless": &m.headless, "PodDisruptionBudget nats": &m.disruptions, "StatefulSet nats": &m.servers,
		"NetworkPolicy nats": &m.network, "NetworkPolicy nats-bootstrap": &m.jobNetwork,
	}
	manifesttest.Read(t, namespace, into)
	return m
}

// TestPodsAreRestricted checks what the namespace enforces.
func TestPodsAreRestricted(t *testing.T) {
	m := read(t)
	if m.namespace.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
		t.Error("the namespace takes any pod")
	}
	pinned := regexp.MustCompile(`^docker\.io/library/nats:\d+\.\d+\.\d+(@sha256:[0-9a-f]{64})?$`)
	for name, pod := range map[string]corev1.PodSpec{"servers": m.servers.Spec.Template.Spec, "job": m.job.Spec.Template.Spec} {
		manifesttest.Restricted(t, name, pod)
	}
	if image := m.servers.Spec.Template.Spec.Containers[0].Image; !pinned.MatchString(image) {
		t.Errorf("the image %q is not one version", image)
	}
	if mount := m.servers.Spec.Template.Spec.AutomountServiceAccountToken; mount == nil || *mount {
		t.Error("the servers get a token of the API server")
	}
}

// TestRightsOfTheJob compares them with the Secrets that it makes: it can read these, and
// change or list none.
func TestRightsOfTheJob(t *testing.T) {
	m := read(t)
	plan := bootstrap.Plan{Name: "nats"}
	var secrets []string
	for _, of := range []string{bootstrap.Keys, bootstrap.Operator, bootstrap.Server, bootstrap.CA, bootstrap.TLS, bootstrap.Client} {
		secrets = append(secrets, plan.Secret(of))
	}
	b := manifesttest.Bootstrap{Account: m.account, Role: m.role, Binding: m.binding, Job: m.job}
	b.MakesOnly(t, secrets, []string{"nats", "bootstrap", "--name=" + plan.Name})
}

// TestObjectsFit compares what objects say about each other.
func TestObjectsFit(t *testing.T) {
	m := read(t)
	pods := m.servers.Spec.Template.Labels
	for what, labels := range map[string]map[string]string{
		"Service nats": m.clients.Spec.Selector, "Service nats-headless": m.headless.Spec.Selector, "StatefulSet": m.servers.Spec.Selector.MatchLabels,
		"PodDisruptionBudget": m.disruptions.Spec.Selector.MatchLabels, "NetworkPolicy": m.network.Spec.PodSelector.MatchLabels,
		"anti-affinity": m.servers.Spec.Template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels,
		"spread":        m.servers.Spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels,
	} {
		selects := func(of map[string]string) bool {
			for key, value := range labels {
				if of[key] != value {
					return false
				}
			}
			return len(labels) > 0
		}
		if !selects(pods) || selects(m.job.Spec.Template.Labels) {
			t.Errorf("%s selects %v: the servers are %v, the Job %v", what, labels, pods, m.job.Spec.Template.Labels)
		}
	}
	if labels := m.jobNetwork.Spec.PodSelector.MatchLabels; m.job.Spec.Template.Labels["app.kubernetes.io/name"] != labels["app.kubernetes.io/name"] {
		t.Errorf("the NetworkPolicy of the Job selects %v", labels)
	}
	if m.servers.Spec.ServiceName != m.headless.Name || m.headless.Name != (bootstrap.Plan{Name: m.clients.Name}).Headless() {
		t.Errorf("the Services are %q and %q, the StatefulSet uses %q", m.clients.Name, m.headless.Name, m.servers.Spec.ServiceName)
	}
	if n := m.disruptions.Spec.MaxUnavailable; *m.servers.Spec.Replicas != 3 || n == nil || n.IntValue() != 1 {
		t.Errorf("%d servers, of which %v may be unavailable", *m.servers.Spec.Replicas, n)
	}
	ports := map[string]int32{}
	for _, p := range m.servers.Spec.Template.Spec.Containers[0].Ports {
		ports[p.Name] = p.ContainerPort
	}
	for _, p := range append(m.clients.Spec.Ports, m.headless.Spec.Ports...) {
		if ports[p.TargetPort.StrVal] != p.Port {
			t.Errorf("a Service sends port %d to %q, the servers have %v", p.Port, p.TargetPort.StrVal, ports)
		}
	}
}
