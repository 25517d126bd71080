// Package s3_test checks the manifests of the object store, and runs its server with their
// arguments.
package s3_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/artifact/objectstore/bootstrap"
	embedded "github.com/gorizond/koldun/internal/local/embedded/s3"
	"github.com/gorizond/koldun/package/manifesttest"
)

// namespace of all objects, and name of the server.
const namespace, name = "s3", "s3"

var plan = bootstrap.Plan{Name: name, Namespace: namespace, Domain: "cluster.local"}

// manifests are the objects of this folder.
type manifests struct {
	namespace  corev1.Namespace
	account    corev1.ServiceAccount
	role       rbacv1.Role
	binding    rbacv1.RoleBinding
	job        batchv1.Job
	service    corev1.Service
	server     appsv1.StatefulSet
	network    networkingv1.NetworkPolicy
	jobNetwork networkingv1.NetworkPolicy
}

func read(t *testing.T) *manifests {
	t.Helper()
	m := &manifests{}
	manifesttest.Read(t, namespace, map[string]any{
		"Namespace s3": &m.namespace, "ServiceAccount s3-bootstrap": &m.account, "Role s3-bootstrap": &m.role,
		"RoleBinding s3-bootstrap": &m.binding, "Job s3-bootstrap": &m.job, "Service s3": &m.service, "StatefulSet s3": &m.server,
		"NetworkPolicy s3": &m.network, "NetworkPolicy s3-bootstrap": &m.jobNetwork,
	})
	return m
}

// container is that of the server.
func (m *manifests) container() corev1.Container { return m.server.Spec.Template.Spec.Containers[0] }

// TestPodsAreRestricted checks what the namespace enforces.
func TestPodsAreRestricted(t *testing.T) {
	m := read(t)
	if m.namespace.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
		t.Error("the namespace takes any pod")
	}
	manifesttest.Restricted(t, "server", m.server.Spec.Template.Spec)
	manifesttest.Restricted(t, "job", m.job.Spec.Template.Spec)
	if mount := m.server.Spec.Template.Spec.AutomountServiceAccountToken; mount == nil || *mount {
		t.Error("the server gets a token of the API server")
	}
	if c := m.container(); slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return strings.Contains(e.Name, "SECRET") && e.Value != "" }) {
		t.Error("the manifests hold a secret")
	}
	if image := m.container().Image; image != m.job.Spec.Template.Spec.Containers[0].Image {
		t.Errorf("the server is of the image %q, and the Job of another", image)
	}
}

// TestRightsOfTheJob compares them with the Secret that it makes.
func TestRightsOfTheJob(t *testing.T) {
	m := read(t)
	b := manifesttest.Bootstrap{Account: m.account, Role: m.role, Binding: m.binding, Job: m.job}
	credentials := plan.Secret(bootstrap.Credentials)
	b.MakesOnly(t, []string{plan.Secret(bootstrap.CA), plan.Secret(bootstrap.TLS), credentials}, []string{"s3", "bootstrap", "--name=" + name}, credentials)
}

// TestObjectsFit compares what objects say about each other, and what the example connects
// to.
func TestObjectsFit(t *testing.T) {
	m := read(t)
	pod := m.server.Spec.Template.Labels["app.kubernetes.io/name"]
	for what, labels := range map[string]map[string]string{
		"Service": m.service.Spec.Selector, "StatefulSet": m.server.Spec.Selector.MatchLabels, "NetworkPolicy": m.network.Spec.PodSelector.MatchLabels,
	} {
		if len(labels) != 1 || labels["app.kubernetes.io/name"] != pod {
			t.Errorf("%s selects %v, the server is %q", what, labels, pod)
		}
	}
	job := m.job.Spec.Template.Labels["app.kubernetes.io/name"]
	if job == pod || m.jobNetwork.Spec.PodSelector.MatchLabels["app.kubernetes.io/name"] != job {
		t.Errorf("the NetworkPolicy of the Job selects %v, the Job is %q", m.jobNetwork.Spec.PodSelector.MatchLabels, job)
	}
	ports, port := m.container().Ports, m.service.Spec.Ports[0]
	if len(ports) != 1 || port.TargetPort.StrVal != ports[0].Name || port.Port != ports[0].ContainerPort || !slices.Contains(m.container().Args, "--listen=:7070") ||
		port.Port != 7070 || m.network.Spec.Ingress[0].Ports[0].Port.IntVal != port.Port {
		t.Errorf("the server has the ports %v, and the Service sends %v", ports, port)
	}
	if *m.server.Spec.Replicas != 1 || m.server.Spec.ServiceName != m.service.Name || m.server.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted != appsv1.RetainPersistentVolumeClaimRetentionPolicyType {
		t.Errorf("the StatefulSet is %+v", m.server.Spec)
	}
	s := example(t).Spec.S3
	if s.Endpoint != endpoint || s.SecretRef.Namespace != namespace || s.SecretRef.Name != plan.Secret(bootstrap.Credentials) || s.STS == nil {
		t.Errorf("the example connects to %+v", s)
	}
	for _, p := range []*corev1.Probe{m.container().StartupProbe, m.container().ReadinessProbe, m.container().LivenessProbe} {
		if p.HTTPGet.Scheme != corev1.URISchemeHTTPS || p.HTTPGet.Path != embedded.HealthPath {
			t.Errorf("the kubelet asks for %+v", p.HTTPGet)
		}
	}
}

// endpoint is the address of the Service.
const endpoint = "https://s3.s3.svc:7070"

// example is the connection to the server.
func example(t *testing.T) v1alpha1.ClusterProviderConfig {
	t.Helper()
	var config v1alpha1.ClusterProviderConfig
	if err := yaml.UnmarshalStrict([]byte(manifesttest.Content(t, "../../examples/s3/clusterproviderconfig.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	return config
}
