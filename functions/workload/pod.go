// Package workload builds the pods of Koldun's own binary, all alike: not
// root, read-only root file system, no capabilities, no service account token.
package workload

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/gorizond/koldun/internal/names"
)

// User is the user and group id of every container: "nonroot" of the images
// that are built from nothing.
const User = 65532

// A Container runs our binary with one command.
type Container struct {
	Name  string
	Image string
	// Args of the binary. They reach ports and folders as $(KOLDUN_PORT_X)
	// and $(KOLDUN_DIR_X), see names.PortEnv and names.DirEnv.
	Args []string
	// Env are plain variables.
	Env map[string]string
	// Secrets whose keys all become variables.
	Secrets []string
	// SecretEnv are variables from one key of a Secret, which may be missing.
	SecretEnv map[string]corev1.SecretKeySelector
	// ProbePort names the port on which /readyz and /healthz answer.
	ProbePort string
}

// A Pod is containers that share ports and volumes.
type Pod struct {
	Labels      map[string]string
	Annotations map[string]string
	Init        []Container
	Containers  []Container
	// Ports by name. Every container is told all of them.
	Ports map[string]int32
	// Volumes are empty folders by name, mounted in every container.
	Volumes map[string]string
	// GraceSeconds that the pod may take to finish what it has.
	GraceSeconds int64
	// Once is for Jobs: containers are not restarted.
	Once bool
}

// Template is the pod as a template.
func (p Pod) Template() corev1.PodTemplateSpec {
	spec := corev1.PodSpec{
		AutomountServiceAccountToken: ptr(false),
		EnableServiceLinks:           ptr(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   ptr(true),
			RunAsUser:      ptr(int64(User)),
			RunAsGroup:     ptr(int64(User)),
			FSGroup:        ptr(int64(User)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		TerminationGracePeriodSeconds: ptr(p.GraceSeconds),
	}
	if p.Once {
		spec.RestartPolicy = corev1.RestartPolicyNever
	}
	for _, name := range slices.Sorted(maps.Keys(p.Volumes)) {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
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
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: p.Labels, Annotations: p.Annotations},
		Spec:       spec,
	}
}

func (p Pod) container(c Container) corev1.Container {
	out := corev1.Container{
		Name:  c.Name,
		Image: c.Image,
		Args:  c.Args,
		Env:   []corev1.EnvVar{fieldEnv("POD_NAME", "metadata.name"), fieldEnv("POD_NAMESPACE", "metadata.namespace")},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr(false),
			ReadOnlyRootFilesystem:   ptr(true),
			RunAsNonRoot:             ptr(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
	for _, name := range slices.Sorted(maps.Keys(p.Ports)) {
		out.Env = append(out.Env, corev1.EnvVar{Name: names.PortEnv(name), Value: strconv.Itoa(int(p.Ports[name]))})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Volumes)) {
		out.Env = append(out.Env, corev1.EnvVar{Name: names.DirEnv(name), Value: p.Volumes[name]})
		out.VolumeMounts = append(out.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: p.Volumes[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		out.Env = append(out.Env, corev1.EnvVar{Name: name, Value: c.Env[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(c.SecretEnv)) {
		out.Env = append(out.Env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: ptr(c.SecretEnv[name])}})
	}
	for _, name := range c.Secrets {
		out.EnvFrom = append(out.EnvFrom, corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}})
	}
	if c.ProbePort != "" {
		out.ReadinessProbe = probe("/readyz", c.ProbePort, 2, 3)
		out.LivenessProbe = probe("/healthz", c.ProbePort, 10, 6)
	}
	return out
}

func (p Pod) ports() []corev1.ContainerPort {
	var out []corev1.ContainerPort
	for _, name := range slices.Sorted(maps.Keys(p.Ports)) {
		out = append(out, corev1.ContainerPort{Name: name, ContainerPort: p.Ports[name], Protocol: corev1.ProtocolTCP})
	}
	return out
}

func probe(path, port string, period, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString(port), Scheme: corev1.URISchemeHTTP}},
		PeriodSeconds:    period,
		TimeoutSeconds:   5,
		SuccessThreshold: 1,
		FailureThreshold: failures,
	}
}

func fieldEnv(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}}
}

func ptr[T any](v T) *T { return &v }
