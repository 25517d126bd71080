package aideployment

import (
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// template returns the pods: as the profile has them, the claim's template over them,
// and then what the other fields of the claim say. The error is Invalid if the claim
// is wrong.
func (a *alone) template() (corev1.PodTemplateSpec, error) {
	base := a.base()
	patch, err := a.engine.patch()
	if err != nil {
		return base, err
	}
	if a.engine.generic() && len(patch.Spec.Containers) == 0 {
		return base, fault.Errorf(fault.Invalid, "spec.deployment.template: it has no container, whose first one runs the engine")
	}
	out, err := mergeTemplate(base, patch)
	if err != nil {
		return out, err
	}
	c := container(&out)
	if c.Image == "" {
		return out, fault.Errorf(fault.Invalid, "spec.engine.options.imageRepository: the engine has no image of its own: name one")
	}
	c.Args = append(c.Args, a.d.Spec.Args...)
	c.Env = workload.Override(c.Env, a.d.Spec.Env)
	from := workload.From(a.d.Spec.EnvFrom) // the template may have replaced it
	c.EnvFrom = append(slices.DeleteFunc(c.EnvFrom, func(s corev1.EnvFromSource) bool {
		return slices.ContainsFunc(from, func(o corev1.EnvFromSource) bool { return equality.Semantic.DeepEqual(s, o) })
	}), from...)
	sum, err := checksum(a.started.Files)
	if err != nil {
		return out, err
	}
	mark(a.d, &out, sum)
	a.engine.accelerate(&out.Spec, c)
	return out, a.probe(c)
}

// mark sets labels and annotations, one of them a checksum of the configuration files. The
// labels by which the pods are selected come last.
func mark(of *v1.AIDeployment, t *corev1.PodTemplateSpec, sum string) {
	d := of.Spec.Deployment
	all := map[string]string{v1.LabelPremSpread: spread}
	for _, m := range []map[string]string{t.Labels, d.Labels, labels(of), {v1.LabelPremDeployment: name(of)}, selector(of)} {
		maps.Copy(all, m)
	}
	own := func(c corev1.TopologySpreadConstraint) bool { // the API server takes no two of them
		return c.TopologyKey == labelHost && c.WhenUnsatisfiable == corev1.ScheduleAnyway
	}
	if all[v1.LabelPremSpread] == spread && !slices.ContainsFunc(t.Spec.TopologySpreadConstraints, own) {
		t.Spec.TopologySpreadConstraints = append(t.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: labelHost, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{v1.LabelPremSpread: spread}},
		})
	}
	t.Labels = all
	annotations := maps.Clone(t.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, d.Annotations)
	if sum != "" {
		annotations[v1.AnnotationConfig] = sum
	}
	t.Annotations = annotations
}

// labelHost is different on each node.
const labelHost = "kubernetes.io/hostname"

// spread is the label's value for pods that spread over nodes, as pods of other
// AIDeployments do. Pods with another value in their template do not.
const spread = "ai-model"

// base returns the pods before the claim's template: restricted, but for a generic
// engine, whose image decides what it needs.
func (a *alone) base() corev1.PodTemplateSpec {
	d := a.d.Spec.Deployment
	pod := workload.Pod{
		Labels:       selector(a.d),
		Ports:        map[string]int32{portHTTP: a.port},
		Volumes:      map[string]string{},
		Claims:       map[string]workload.Claim{},
		Sources:      map[string]corev1.VolumeSource{},
		PullPolicy:   d.ImagePullPolicy,
		GraceSeconds: graceSeconds,
		Scheduling:   scheduling(d),
		Env:          workload.Env{From: workload.From(a.d.Spec.EnvFrom)},
	}
	if a.volume != "" {
		pod.Volumes[volumeModels] = modelsFolder
		pod.Claims[volumeModels] = workload.Claim{Name: a.volume, ReadOnly: true}
	}
	if !a.engine.generic() {
		a.addFolders(&pod)
	}
	main := workload.Container{
		Name: serving, Image: a.engine.image(), Command: a.started.Command, Args: a.started.Args, Env: a.started.Env, Fields: a.started.Fields,
	}
	if !a.engine.generic() {
		env := map[string]string{names.EnvEngineHost: "0.0.0.0"}
		maps.Copy(env, a.started.Env)
		main.Env = env
	}
	if script := a.started.Prepare; script != "" {
		pod.Init = []workload.Container{{
			Name: "prepare", Image: a.engine.image(), Command: []string{"/bin/sh", "-c", script}, Env: main.Env, Vars: a.d.Spec.Env,
		}}
	}
	pod.Containers = []workload.Container{main}
	out := pod.Template()
	c := container(&out)
	if r := d.Resources; r != nil {
		c.Resources = *r.DeepCopy()
	}
	if a.engine.generic() {
		out.Spec.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: out.Spec.SecurityContext.SeccompProfile}
		c.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: ptr(false)}
	}
	a.probes(c)
	return out
}

// addFolders adds the volumes of a server that Koldun knows.
func (a *alone) addFolders(pod *workload.Pod) {
	pod.Volumes[engine.VolumeCache], pod.Volumes["tmp"], pod.Volumes[volumeModels] = profile.Cache, profile.Temporary, modelsFolder
	if c := a.d.Spec.Cache; c != nil {
		pod.Sources[engine.VolumeCache] = *workload.CacheSource(c)
	}
	if size := a.engine.profile.SharedMemory; size != nil && size(a.engine.gpus()) != "" {
		pod.Volumes["shm"] = "/dev/shm"
		pod.Sources["shm"] = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
			Medium: corev1.StorageMediumMemory, SizeLimit: ptr(resource.MustParse(size(a.engine.gpus()))),
		}}
	}
	if len(a.started.Files) > 0 {
		pod.Volumes[volumeConfig] = profile.ConfigFolder
		pod.Sources[volumeConfig] = corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: component(a.d, "config")},
		}}
	}
}

func scheduling(d *v1.AIDeploymentPods) *v1.Scheduling {
	return &v1.Scheduling{
		NodeSelector: d.NodeSelector, Tolerations: d.Tolerations, Affinity: d.Affinity, ImagePullSecrets: d.ImagePullSecrets,
		ServiceAccountName: d.ServiceAccountName, PriorityClassName: d.PriorityClassName,
	}
}

// checksum of the configuration files; empty if there are none.
func checksum(files map[string]string) (string, error) {
	if len(files) == 0 {
		return "", nil
	}
	raw, err := json.Marshal(files)
	return names.Hash(16, string(raw)), err
}
