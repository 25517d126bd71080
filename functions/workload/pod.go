// Package workload builds the pods of Koldun's own binary, and of the engines
// that it supervises, all alike: not root, read-only root file system, no
// capabilities, no service account token.
package workload

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
)

// User is the user and group id of every container: "nonroot" of the images
// that are built from nothing.
const User = 65532

// A Pod is containers that share ports and volumes.
type Pod struct {
	// Labels by which the pod is selected. They never change.
	Labels map[string]string
	// Group are the labels of all pods that spread over failure domains
	// together; nil is Labels.
	Group map[string]string
	// Marks are labels besides.
	Marks       map[string]string
	Annotations map[string]string
	Init        []Container
	Containers  []Container
	// Ports by name. Every container has variables with all of them.
	Ports map[string]int32
	// Volumes are empty folders by name, mounted in every container.
	Volumes map[string]string
	// Claims are the PersistentVolumeClaims behind volumes that are not
	// empty, by the name of the volume.
	Claims map[string]Claim
	// Sources are the other volumes that are not empty folders on the node's disk,
	// by the name of the volume.
	Sources map[string]corev1.VolumeSource
	// Env is the environment of all containers.
	Env Env
	// PullPolicy of all images; empty is the cluster's choice.
	PullPolicy corev1.PullPolicy
	// Scheduling says where the pod may run; nil is anywhere.
	Scheduling *v1.Scheduling
	// GraceSeconds that the pod may take to finish what it has.
	GraceSeconds int64
	// Once is for Jobs: containers are not restarted.
	Once bool
}

// A Claim is a PersistentVolumeClaim that is mounted.
type Claim struct {
	Name     string
	ReadOnly bool
}

// Template is the pod as a template.
func (p Pod) Template() corev1.PodTemplateSpec {
	spec := corev1.PodSpec{
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   new(true),
			RunAsUser:      new(int64(User)),
			RunAsGroup:     new(int64(User)),
			FSGroup:        new(int64(User)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		TerminationGracePeriodSeconds: new(p.GraceSeconds),
		Volumes:                       p.volumes(),
	}
	if p.Once {
		spec.RestartPolicy = corev1.RestartPolicyNever
	}
	for _, c := range p.Init {
		spec.InitContainers = append(spec.InitContainers, p.container(c))
	}
	for i, c := range p.Containers {
		built := p.container(c)
		if i == 0 {
			built.Ports = p.ports()
		}
		spec.Containers = append(spec.Containers, built)
	}
	group := p.Group
	if group == nil {
		group = p.Labels
	}
	schedule(&spec, p.Scheduling, group)
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: p.labels(), Annotations: p.Annotations},
		Spec:       spec,
	}
}

func (p Pod) labels() map[string]string {
	if len(p.Marks) == 0 {
		return p.Labels
	}
	out := maps.Clone(p.Labels)
	maps.Copy(out, p.Marks)
	return out
}

func (p Pod) volumes() []corev1.Volume {
	var out []corev1.Volume
	for _, name := range slices.Sorted(maps.Keys(p.Volumes)) {
		v := corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
		if c, ok := p.Claims[name]; ok {
			v.VolumeSource = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name, ReadOnly: c.ReadOnly}}
		}
		if source, ok := p.Sources[name]; ok {
			v.VolumeSource = source
		}
		out = append(out, v)
	}
	return append(out, p.credentials()...)
}

func (p Pod) ports() []corev1.ContainerPort {
	var out []corev1.ContainerPort
	for _, name := range slices.Sorted(maps.Keys(p.Ports)) {
		out = append(out, corev1.ContainerPort{Name: name, ContainerPort: p.Ports[name], Protocol: corev1.ProtocolTCP})
	}
	return out
}

// schedule applies what the claim says of where pods may run. A spread constraint
// without a selector selects the pods with the labels.
func schedule(spec *corev1.PodSpec, s *v1.Scheduling, labels map[string]string) {
	if s == nil {
		return
	}
	spec.NodeSelector = s.NodeSelector
	spec.Tolerations = s.Tolerations
	spec.Affinity = s.Affinity
	spec.ImagePullSecrets = s.ImagePullSecrets
	spec.ServiceAccountName = s.ServiceAccountName
	spec.PriorityClassName = s.PriorityClassName
	if s.RuntimeClassName != "" {
		spec.RuntimeClassName = &s.RuntimeClassName
	}
	for _, c := range s.TopologySpreadConstraints {
		if c.LabelSelector == nil {
			c.LabelSelector = &metav1.LabelSelector{MatchLabels: labels}
		}
		spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, c)
	}
}
