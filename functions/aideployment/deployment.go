package aideployment

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// graceSeconds is how long a server may finish what it computes.
const graceSeconds = 60

// beforeStartSeconds is how long new pods may take until the startup probe begins.
const beforeStartSeconds = 600

// deployment composes the Deployment and what its pods read.
func (p *plan) deployment() (compose.Next, error) {
	template, err := p.template()
	switch {
	case fault.Is(err, fault.Invalid):
		return p.refuse("%v", err)
	case err != nil:
		return compose.Stop, err
	}
	if len(p.started.Files) > 0 {
		config := &corev1.ConfigMap{
			TypeMeta:   object("ConfigMap", "v1"),
			ObjectMeta: metav1.ObjectMeta{Namespace: p.d.Namespace, Name: p.component("config"), Labels: p.labels()},
			Data:       p.started.Files,
		}
		if err := p.Desire(resConfig, config, compose.Ready); err != nil {
			return compose.Stop, err
		}
	}
	d := p.d.Spec.Deployment
	out := workload.Deployment(p.d.Namespace, p.name(), 1, workload.Pod{Labels: p.selector()})
	out.Labels = p.labels()
	out.Spec.Template = template
	out.Spec.ProgressDeadlineSeconds = ptr(deadline(*container(&template)))
	seen, _ := p.observed()
	out.Spec.Replicas = p.unowned(seen)
	if p.d.Spec.Autoscaling == nil && d.Replicas != nil {
		out.Spec.Replicas = d.Replicas
	}
	if d.Strategy != nil {
		out.Spec.Strategy = *d.Strategy
	}
	serves := p.ReadyPods(resDeployment) > 0 || d.Replicas != nil && *d.Replicas == 0
	return compose.Continue, p.Desire(resDeployment, out, compose.Readiness(serves))
}

// deadline is how long new pods may take to become ready: the startup probe, and what
// comes before it.
func deadline(c corev1.Container) int32 {
	p := c.StartupProbe
	if p == nil {
		return beforeStartSeconds + startupSeconds
	}
	return beforeStartSeconds + p.InitialDelaySeconds + max(p.PeriodSeconds, 1)*max(p.FailureThreshold, 1)
}

// template returns the pods: those of the profile, the claim's template over them,
// and then what the other fields of the claim say. The error is Invalid if the claim
// is wrong.
func (p *plan) template() (corev1.PodTemplateSpec, error) {
	base, err := p.base()
	if err != nil {
		return base, err
	}
	patch, err := p.patch()
	if err != nil {
		return base, err
	}
	if p.generic() && len(patch.Spec.Containers) == 0 {
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
	c.Args = append(c.Args, p.d.Spec.Args...)
	c.Env = workload.Override(c.Env, p.d.Spec.Env)
	from := workload.From(p.d.Spec.EnvFrom) // the template may have replaced it
	c.EnvFrom = append(slices.DeleteFunc(c.EnvFrom, func(s corev1.EnvFromSource) bool {
		return slices.ContainsFunc(from, func(o corev1.EnvFromSource) bool { return equality.Semantic.DeepEqual(s, o) })
	}), from...)
	p.mark(&out)
	p.accelerate(&out.Spec, c)
	return out, p.probe(c)
}

// mark sets labels and annotations. Those by which the pods are selected come last.
func (p *plan) mark(t *corev1.PodTemplateSpec) {
	d := p.d.Spec.Deployment
	labels := map[string]string{v1.LabelPremSpread: spread}
	for _, m := range []map[string]string{t.Labels, d.Labels, p.labels(), {v1.LabelPremDeployment: p.name()}, p.selector()} {
		maps.Copy(labels, m)
	}
	own := func(c corev1.TopologySpreadConstraint) bool { // the API server takes no two of them
		return c.TopologyKey == labelHost && c.WhenUnsatisfiable == corev1.ScheduleAnyway
	}
	if labels[v1.LabelPremSpread] == spread && !slices.ContainsFunc(t.Spec.TopologySpreadConstraints, own) {
		t.Spec.TopologySpreadConstraints = append(t.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: labelHost, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{v1.LabelPremSpread: spread}},
		})
	}
	t.Labels = labels
	annotations := maps.Clone(t.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, d.Annotations)
	if p.sum != "" {
		annotations[v1.AnnotationConfig] = p.sum
	}
	t.Annotations = annotations
}

// labelHost is different on each node.
const labelHost = "kubernetes.io/hostname"

// spread is the label's value for pods that spread over nodes with those of other
// AIDeployments. Pods with another value in their template do not.
const spread = "ai-model"

// base returns the pods before the claim's template: restricted, but for a generic
// engine, whose image decides what it needs.
func (p *plan) base() (corev1.PodTemplateSpec, error) {
	d := p.d.Spec.Deployment
	pod := workload.Pod{
		Labels:       p.selector(),
		Ports:        map[string]int32{portHTTP: p.port},
		Volumes:      map[string]string{},
		Claims:       map[string]workload.Claim{},
		Sources:      map[string]corev1.VolumeSource{},
		PullPolicy:   d.ImagePullPolicy,
		GraceSeconds: graceSeconds,
		Scheduling:   p.scheduling(),
		Env:          workload.Env{From: workload.From(p.d.Spec.EnvFrom)},
	}
	if p.claim != "" {
		pod.Volumes[volumeModels] = modelsFolder
		pod.Claims[volumeModels] = workload.Claim{Name: p.claim, ReadOnly: true}
	}
	if !p.generic() {
		p.addFolders(&pod)
	}
	main := workload.Container{
		Name: serving, Image: p.image(), Command: p.started.Command, Args: p.started.Args, Env: p.started.Env, Fields: p.started.Fields,
	}
	if !p.generic() {
		env := map[string]string{names.EnvEngineHost: "0.0.0.0"}
		maps.Copy(env, p.started.Env)
		main.Env = env
	}
	if script := p.started.Prepare; script != "" {
		pod.Init = []workload.Container{{
			Name: "prepare", Image: p.image(), Command: []string{"/bin/sh", "-c", script}, Env: main.Env, Vars: p.d.Spec.Env,
		}}
	}
	pod.Containers = []workload.Container{main}
	out := pod.Template()
	c := container(&out)
	if r := d.Resources; r != nil {
		c.Resources = *r.DeepCopy()
	}
	if p.generic() {
		out.Spec.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: out.Spec.SecurityContext.SeccompProfile}
		c.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: ptr(false)}
	}
	p.probes(c)
	var err error
	p.sum, err = p.checksum()
	return out, err
}

// addFolders adds the volumes of a server that Koldun knows.
func (p *plan) addFolders(pod *workload.Pod) {
	pod.Volumes[engine.VolumeCache], pod.Volumes["tmp"], pod.Volumes[volumeModels] = profile.Cache, profile.Temporary, modelsFolder
	if c := p.d.Spec.Cache; c != nil {
		pod.Sources[engine.VolumeCache] = *workload.CacheSource(c)
	}
	if size := p.profile.SharedMemory; size != nil && size(p.gpus()) != "" {
		pod.Volumes["shm"] = "/dev/shm"
		pod.Sources["shm"] = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
			Medium: corev1.StorageMediumMemory, SizeLimit: ptr(resource.MustParse(size(p.gpus()))),
		}}
	}
	if len(p.started.Files) > 0 {
		pod.Volumes[volumeConfig] = profile.ConfigFolder
		pod.Sources[volumeConfig] = corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: p.component("config")},
		}}
	}
}

func (p *plan) scheduling() *v1.Scheduling {
	d := p.d.Spec.Deployment
	return &v1.Scheduling{
		NodeSelector: d.NodeSelector, Tolerations: d.Tolerations, Affinity: d.Affinity, ImagePullSecrets: d.ImagePullSecrets,
		ServiceAccountName: d.ServiceAccountName, PriorityClassName: d.PriorityClassName,
	}
}

func (p *plan) generic() bool { return p.profile.Alone.Models == profile.NoModels }

// observed is the Deployment as it is.
func (p *plan) observed() (appsv1.Deployment, bool) {
	var d appsv1.Deployment
	return d, p.Observed(resDeployment, &d)
}

func ptr[T any](v T) *T { return &v }
