package aideployment

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
)

// dllama composes a Dllama with an endpoint, and takes its status.
func (p *plan) dllama() (compose.Next, error) {
	if problem := p.ineffective(); problem != "" {
		return p.refuse("%s", problem)
	}
	spec, problem := p.dllamaSpec()
	if problem != "" {
		return p.refuse("%s", problem)
	}
	var seen v1.Dllama
	found := p.Observed(resDllama, &seen)
	serves := p.Condition(resDllama, v1.ConditionServing)
	want := &v1.Dllama{
		TypeMeta:   object(v1.KindDllama, v1.APIVersion),
		ObjectMeta: metav1.ObjectMeta{Namespace: p.d.Namespace, Name: p.name(), Labels: p.labels()},
		Spec:       spec,
	}
	if err := p.Desire(resDllama, want, compose.Readiness(serves.Status == metav1.ConditionTrue)); err != nil {
		return compose.Stop, err
	}
	if around := p.Condition(resDllama, v1.ConditionPrerequisites); around.Status == metav1.ConditionFalse {
		p.Lack(around.Message)
	}
	p.status.URL, p.status.Replicas = seen.Status.URL, 1
	switch {
	case serves.Status == metav1.ConditionTrue:
		p.status.Phase, p.status.ReadyReplicas = phaseReady, 1
		p.Serve(reason.Available, "%s serves %s", p.d.Spec.Engine.Name, seen.Status.Model)
	case found && reason.Passed(serves.Reason):
		p.fail(reason.Reason(serves.Reason), "Dllama %q is not ready: %s", p.name(), serves.Message)
	case found && reason.Final(serves.Reason):
		p.fail(reason.DeploymentFailed, "Dllama %q is not ready: %s: %s", p.name(), serves.Reason, serves.Message)
	default:
		p.fail(reason.DllamasStarting, "Dllama %q is not ready yet: see its condition Serving", p.name())
	}
	return compose.Continue, nil
}

// ineffective names a field that has no effect behind the queue.
func (p *plan) ineffective() string {
	s, d := p.d.Spec, p.d.Spec.Deployment
	for _, f := range []struct {
		given bool
		name  string
		why   string
	}{
		{d.Template != nil, "deployment.template", "a Dllama has no template"},
		{s.Autoscaling != nil, "autoscaling", "one Dllama runs the engine: use a Session for a pool"},
		{d.Replicas != nil && *d.Replicas != 1, "deployment.replicas", "one Dllama runs the engine: use a Session for a pool"},
		{len(d.Labels) > 0, "deployment.labels", "a Dllama has labels of its own"},
		{len(d.Annotations) > 0, "deployment.annotations", "a Dllama has annotations of its own"},
		{d.StartupProbe != nil || d.ReadinessProbe != nil || d.LivenessProbe != nil, "deployment", "the sidecar answers the probes"},
		{s.Service != nil && len(s.Service.Labels) > 0, "service.labels", "the Service is that of the gateway"},
		{p.distributed() && s.Cache != nil, "cache", "distributed-llama downloads nothing: its Model does"},
		{len(p.models[0].config) > 0, "models[0].engineConfigFile", "behind the gateway LocalAI takes a name of its gallery, or a file"},
	} {
		if f.given {
			return fmt.Sprintf("spec.%s: it has no effect, because %s", f.name, f.why)
		}
	}
	return ""
}

func (p *plan) dllamaSpec() (spec v1.DllamaSpec, problem string) {
	s, d := p.d.Spec, p.d.Spec.Deployment
	if spec.PodEnv, problem = p.env(); problem != "" {
		return spec, problem
	}
	spec.Expose = &v1.Expose{}
	spec.Expose.BackendEnv, spec.Expose.BackendEnvFrom = spec.Env, spec.EnvFrom
	if g := s.Gateway; g != nil {
		spec.Expose.AllowAnonymous, spec.NATS = g.AllowAnonymous, g.NATS
	}
	if s.Service != nil {
		spec.Expose.Service = v1.IngressService{Type: s.Service.Type, Annotations: s.Service.Annotations}
	}
	spec.Nodes, spec.ImagePullPolicy = s.Engine.Nodes, d.ImagePullPolicy
	spec.Scheduling = p.scheduling()
	spec.Scheduling.Affinity, spec.Scheduling.RuntimeClassName = capable(d.Affinity, d.Accelerator), p.runtimeClass()
	if o := s.Engine.Options; o != nil && (o.ImageRepository != "" || o.ImageTag != "") {
		if spec.RootImage = p.image(); spec.RootImage == "" {
			return spec, "spec.engine.options.imageTag: the engine has no image of its own: give imageRepository too"
		}
	}
	spec.RootResources = p.resources()
	if s.Engine.Nodes != nil && *s.Engine.Nodes > 1 {
		spec.WorkerResources = spec.RootResources
	}
	spec.Engine.MaxSeqLen = s.Engine.MaxSeqLen
	m := p.models[0]
	if p.distributed() {
		spec.Engine.Type, spec.Engine.ExtraArgs = v1.EngineType(s.Engine.Name), s.Args
		model := v1.ModelSpec{SourceURL: source(m.URI), Revision: m.Revision, PodEnv: spec.PodEnv}
		if m.Quantization != "" {
			model.Conversion = &v1.Conversion{WeightsFloatType: m.Quantization}
		}
		if p.claim != "" {
			return spec, "spec.modelSource: distributed-llama converts the files of a repository: leave it out"
		}
		spec.Model = &model
		return spec, ""
	}
	if problem = p.unpinned(m); problem != "" {
		return spec, problem
	}
	spec.Engine.Type = "openai"
	spec.Engine.Server = p.server(m)
	if p.claim != "" {
		spec.Delivery = "pvc"
		spec.Model = &v1.ModelSpec{PreConverted: true, PreConvertedPVCName: p.claim, Conversion: &v1.Conversion{Type: "None"}, PodEnv: spec.PodEnv}
	}
	return spec, ""
}

// env is the environment of all pods behind the gateway.
func (p *plan) env() (v1.PodEnv, string) {
	vars, problem := workload.ClaimVars(p.d.Spec.Env)
	if problem != "" {
		problem = "spec.env: " + problem
	}
	return v1.PodEnv{Env: vars, EnvFrom: p.d.Spec.EnvFrom}, problem
}

// source is the URL of a repository of the hub.
func source(uri string) string {
	if strings.Contains(uri, "://") {
		return uri
	}
	return "hf://" + uri
}

func (p *plan) resources() *corev1.ResourceRequirements {
	r := p.d.Spec.Deployment.Resources
	device := p.device()
	if device == "" {
		return r
	}
	out := &corev1.ResourceRequirements{}
	if r != nil {
		out = r.DeepCopy()
	}
	addGPUs(out, device, p.gpus())
	return out
}

// server describes the engine as the server of a Dllama.
func (p *plan) server(m model) *v1.Server {
	s := p.d.Spec
	out := &v1.Server{Profile: v1.ServerProfile(p.profile.Name), Model: m.URI, Cache: s.Cache}
	if p.claim == "" {
		out.Source = "download"
	}
	if g := s.Gateway; g != nil {
		out.Slots = g.Slots
	}
	if o := s.Engine.Options; o != nil {
		out.ServedName = o.ServedName
	}
	if flags := p.profile.Alone.Flags; flags != nil {
		out.Args = flags(p.loaded(m))
	}
	out.Args = append(out.Args, s.Args...)
	return out
}
