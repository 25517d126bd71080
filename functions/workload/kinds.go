package workload

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const protocolTCP = corev1.ProtocolTCP

// finalExits are the exit statuses of internal/fault that no retry can fix.
var finalExits = []int32{10, 11, 12, 13, 14, 15} //nolint:gochecknoglobals // a constant in all but syntax

// Deployment of p with that many replicas.
func Deployment(namespace, name string, replicas int32, p Pod) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: p.Labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(replicas),
			Selector: &metav1.LabelSelector{MatchLabels: p.Labels},
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: new(intstr.FromInt32(0)), MaxSurge: new(intstr.FromInt32(1))},
			},
			Template: p.Template(),
		},
	}
}

// StatefulSet of p with that many replicas, started in parallel, behind the
// headless Service of the same name.
func StatefulSet(namespace, name string, replicas int32, p Pod) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: p.Labels},
		Spec: appsv1.StatefulSetSpec{
			Replicas:            new(replicas),
			ServiceName:         name,
			PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector:            &metav1.LabelSelector{MatchLabels: p.Labels},
			Template:            p.Template(),
		},
	}
}

// Job of p with that many retries. An exit status that no retry can fix ends
// it at once.
func Job(namespace, name string, retries int32, p Pod) *batchv1.Job {
	p.Once = true
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: p.Labels},
		Spec: batchv1.JobSpec{
			BackoffLimit: new(retries),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionFailJob,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					Operator: batchv1.PodFailurePolicyOnExitCodesOpIn,
					Values:   finalExits,
				},
			}}},
			Template: p.Template(),
		},
	}
}

// Service in front of the pods with the labels: port number by port name.
// headless Services give pods their names and carry no traffic.
func Service(namespace, name string, kind corev1.ServiceType, labels map[string]string, ports map[string]int32) *corev1.Service {
	s := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec:       corev1.ServiceSpec{Type: kind, Selector: labels},
	}
	for _, port := range slices.Sorted(maps.Keys(ports)) {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: port, Port: ports[port], TargetPort: intstr.FromString(port), Protocol: corev1.ProtocolTCP})
	}
	return s
}

// Headless Service of a StatefulSet.
func Headless(namespace, name string, labels map[string]string, ports map[string]int32) *corev1.Service {
	s := Service(namespace, name, corev1.ServiceTypeClusterIP, labels, ports)
	s.Spec.ClusterIP = corev1.ClusterIPNone
	s.Spec.PublishNotReadyAddresses = true
	return s
}
