package workload

import (
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/gorizond/koldun/functions/memory"
	"github.com/gorizond/koldun/internal/names"
)

// A Container runs our binary with one command.
type Container struct {
	Name  string
	Image string
	// Command in place of the image's own: the binary.
	Command []string
	// Args of the binary. They reach ports and folders as $(KOLDUN_PORT_X)
	// and $(KOLDUN_DIR_X), see names.PortEnv and names.DirEnv.
	Args []string
	// Env are plain variables.
	Env map[string]string
	// Fields are variables from fields of the pod, by their paths.
	Fields map[string]string
	// Vars override all variables above that have their names.
	Vars []corev1.EnvVar
	// Secrets whose keys all become variables.
	Secrets []string
	// Login to NATS, which no other container of the pod has.
	Login Login
	// StoreKeys are the credentials for the object store, if those in Secrets end.
	StoreKeys StoreKeys
	// SecretEnv are variables from one key of a Secret, which may be missing.
	SecretEnv map[string]corev1.SecretKeySelector
	// ProbePort names the port of the pod on which /readyz and /healthz answer. It
	// is never a port of an engine: one connection to that ends it.
	ProbePort string
	// SidecarPort names the port of the pod on which a sidecar answers for the
	// container. The container is restarted unless GET /engine/readyz succeeds within
	// the time Startup, and GET /engine/livez later. It gets its signal to stop when
	// GET /drained is answered.
	SidecarPort string
	Startup     time.Duration
	// User runs the container; nil is the pod's user.
	User *int64
	// Resources that the claim names for the container.
	Resources corev1.ResourceRequirements
	// Memory is the most bytes that our own binary takes in this container, which become
	// its limit unless Resources has one; 0 sets no limit. Request is what it requests
	// unless Resources does.
	Memory, Request int64
	// Folders are the volumes that are mounted; nil is all of the pod.
	Folders []string
}

func (p Pod) container(c Container) corev1.Container {
	out := corev1.Container{
		Name:            c.Name,
		Image:           c.Image,
		ImagePullPolicy: p.PullPolicy,
		Command:         c.Command,
		Args:            c.Args,
		Env:             []corev1.EnvVar{fieldEnv("POD_NAME", "metadata.name"), fieldEnv("POD_NAMESPACE", "metadata.namespace")},
		Resources:       c.resources(),
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			RunAsNonRoot:             new(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
	for _, name := range slices.Sorted(maps.Keys(p.Ports)) {
		out.Env = append(out.Env, corev1.EnvVar{Name: names.PortEnv(name), Value: strconv.Itoa(int(p.Ports[name]))})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Volumes)) {
		if c.Folders != nil && !slices.Contains(c.Folders, name) {
			continue
		}
		out.Env = append(out.Env, corev1.EnvVar{Name: names.DirEnv(name), Value: p.Volumes[name]})
		out.VolumeMounts = append(out.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: p.Volumes[name], ReadOnly: p.Claims[name].ReadOnly})
	}
	if limit := memory.GoLimit(c.resources()); limit != "" && c.Memory > 0 {
		out.Env = append(out.Env, corev1.EnvVar{Name: memory.EnvGoLimit, Value: limit})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		out.Env = append(out.Env, corev1.EnvVar{Name: name, Value: c.Env[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Fields)) {
		out.Env = append(out.Env, fieldEnv(name, c.Fields[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(c.SecretEnv)) {
		out.Env = append(out.Env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: new(c.SecretEnv[name])}})
	}
	vars, from := p.environment(c)
	out.Env = Override(Override(out.Env, vars), c.Vars)
	for _, f := range c.credentials() {
		f.mount(&out)
	}
	out.EnvFrom = slices.Clone(from) // before ours, which count if both have a key
	for _, name := range c.Secrets {
		out.EnvFrom = append(out.EnvFrom, corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}})
	}
	if c.ProbePort != "" {
		out.ReadinessProbe = probe("/readyz", p.Ports[c.ProbePort], 2, 3)
		out.LivenessProbe = probe("/healthz", p.Ports[c.ProbePort], 10, 6)
	}
	if c.SidecarPort != "" {
		const period = 10
		port := p.Ports[c.SidecarPort]
		out.StartupProbe = probe("/engine/readyz", port, period, int32(c.Startup.Seconds())/period)
		out.LivenessProbe = probe("/engine/livez", port, period, sidecarGone/period)
		out.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: httpGet("/drained", port)}}
	}
	if c.User != nil {
		out.SecurityContext.RunAsUser = c.User
		out.SecurityContext.RunAsNonRoot = new(*c.User != 0)
	}
	return out
}

func (c Container) resources() corev1.ResourceRequirements {
	return memory.Complete(c.Resources, c.Memory, c.Request)
}

// sidecarGone is for how many seconds a sidecar may be gone before the container for
// which it answers is restarted. A sidecar that crashes is started again after 5
// minutes at most, and the container may have loaded for longer than that.
const sidecarGone = 360

func probe(path string, port, period, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{HTTPGet: httpGet(path, port)},
		PeriodSeconds:    period,
		TimeoutSeconds:   5,
		SuccessThreshold: 1,
		FailureThreshold: failures,
	}
}

// httpGet asks a port by its number: a kubelet looks up names among the ports of the
// asked container only, and the first container declares those of the whole pod.
func httpGet(path string, port int32) *corev1.HTTPGetAction {
	return &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(port), Scheme: corev1.URISchemeHTTP}
}

func fieldEnv(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}}
}
