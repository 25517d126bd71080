package aideployment

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
)

// queued is an engine behind Koldun's queue.
type queued struct {
	*plan
	engine engineSpec
	model  model
	volume string // PersistentVolumeClaim with the model; empty is none
}

// dllama composes a Dllama with an endpoint, and takes its status.
func (q *queued) dllama() (compose.Next, error) {
	if problem := q.ineffective(); problem != "" {
		return q.refuse("%s", problem)
	}
	spec, problem := q.dllamaSpec()
	if problem != "" {
		return q.refuse("%s", problem)
	}
	var seen v1.Dllama
	found := q.Observed(resDllama, &seen)
	serves := q.Condition(resDllama, v1.ConditionServing)
	want := &v1.Dllama{
		TypeMeta:   object(v1.KindDllama, v1.APIVersion),
		ObjectMeta: metav1.ObjectMeta{Namespace: q.d.Namespace, Name: name(q.d), Labels: labels(q.d)},
		Spec:       spec,
	}
	if err := q.Desire(resDllama, want, compose.Readiness(serves.Status == metav1.ConditionTrue)); err != nil {
		return compose.Stop, err
	}
	if around := q.Condition(resDllama, v1.ConditionPrerequisites); around.Status == metav1.ConditionFalse {
		q.Lack(around.Message)
	}
	q.status.URL, q.status.Replicas = seen.Status.URL, 1
	switch {
	case serves.Status == metav1.ConditionTrue:
		q.status.Phase, q.status.ReadyReplicas = phaseReady, 1
		q.Serve(reason.Available, "%s serves %s", q.d.Spec.Engine.Name, seen.Status.Model)
	case found && reason.Passed(serves.Reason):
		q.fail(reason.Reason(serves.Reason), "Dllama %q is not ready: %s", name(q.d), serves.Message)
	case found && reason.Final(serves.Reason):
		q.fail(reason.DeploymentFailed, "Dllama %q is not ready: %s: %s", name(q.d), serves.Reason, serves.Message)
	default:
		q.fail(reason.DllamasStarting, "Dllama %q is not ready yet: see its condition Serving", name(q.d))
	}
	return compose.Continue, nil
}

// ineffective names a field that has no effect behind the queue.
func (q *queued) ineffective() string {
	s, d := q.d.Spec, q.d.Spec.Deployment
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
		{spreads(q.d.Spec) && s.Cache != nil, "cache", "distributed-llama downloads nothing: its Model does"},
		{len(q.model.config) > 0, "models[0].engineConfigFile", "behind the gateway LocalAI takes a name of its gallery, or a file"},
	} {
		if f.given {
			return fmt.Sprintf("spec.%s: it has no effect, because %s", f.name, f.why)
		}
	}
	return ""
}

func (q *queued) dllamaSpec() (spec v1.DllamaSpec, problem string) {
	s, d := q.d.Spec, q.d.Spec.Deployment
	if spec.PodEnv, problem = env(s); problem != "" {
		return spec, problem
	}
	spec.Expose = &v1.Expose{}
	spec.Expose.BackendEnv, spec.Expose.BackendEnvFrom = workload.Claimable(spec.Env), spec.EnvFrom
	if g := s.Gateway; g != nil {
		spec.Expose.AllowAnonymous, spec.NATS = g.AllowAnonymous, g.NATS
	}
	if s.Service != nil {
		spec.Expose.Service = v1.IngressService{Type: s.Service.Type, Annotations: s.Service.Annotations}
	}
	spec.Nodes, spec.ImagePullPolicy = s.Engine.Nodes, d.ImagePullPolicy
	spec.Scheduling = scheduling(d)
	spec.Scheduling.Affinity, spec.Scheduling.RuntimeClassName = capable(d.Affinity, d.Accelerator), runtimeClass(d.RuntimeClassName)
	if o := s.Engine.Options; o != nil && (o.ImageRepository != "" || o.ImageTag != "") {
		if spec.RootImage = q.engine.image(); spec.RootImage == "" {
			return spec, "spec.engine.options.imageTag: the engine has no image of its own: give imageRepository too"
		}
	}
	spec.RootResources = q.engine.resources()
	if s.Engine.Nodes != nil && *s.Engine.Nodes > 1 {
		spec.WorkerResources = spec.RootResources
	}
	spec.Engine.MaxSeqLen = s.Engine.MaxSeqLen
	if spreads(q.d.Spec) {
		spec.Engine.Type, spec.Engine.ExtraArgs = v1.EngineType(s.Engine.Name), s.Args
		model := v1.ModelSpec{SourceURL: source(q.model.URI), Revision: q.model.Revision, PodEnv: spec.PodEnv}
		if q.model.Quantization != "" {
			model.Conversion = &v1.Conversion{WeightsFloatType: q.model.Quantization}
		}
		if q.volume != "" {
			return spec, "spec.modelSource: distributed-llama converts the files of a repository: leave it out"
		}
		spec.Model = &model
		return spec, ""
	}
	if problem = q.engine.unpinned(q.model); problem != "" {
		return spec, problem
	}
	spec.Engine.Type = "openai"
	spec.Engine.Server = q.server()
	if q.volume != "" {
		spec.Delivery = "pvc"
		spec.Model = &v1.ModelSpec{PreConverted: true, PreConvertedPVCName: q.volume, Conversion: &v1.Conversion{Type: "None"}, PodEnv: spec.PodEnv}
	}
	return spec, ""
}

// env is the environment of all pods behind the gateway.
func env(s v1.AIDeploymentSpec) (v1.PodEnv, string) {
	vars, problem := workload.ClaimVars(s.Env)
	if problem != "" {
		problem = "spec.env: " + problem
	}
	return v1.PodEnv{Env: vars, EnvFrom: s.EnvFrom}, problem
}

// source is the URL of a repository of the hub.
func source(uri string) string {
	if strings.Contains(uri, "://") {
		return uri
	}
	return "hf://" + uri
}

// server describes the engine as the server of a Dllama.
func (q *queued) server() *v1.Server {
	s := q.d.Spec
	out := &v1.Server{Profile: v1.ServerProfile(q.engine.profile.Name), Model: q.model.URI, Cache: s.Cache}
	if q.volume == "" {
		out.Source = "download"
	}
	if g := s.Gateway; g != nil {
		out.Slots = g.Slots
	}
	if o := s.Engine.Options; o != nil {
		out.ServedName = o.ServedName
	}
	if flags := q.engine.profile.Alone.Flags; flags != nil {
		out.Args = flags(q.engine.loaded(q.model))
	}
	out.Args = append(out.Args, s.Args...)
	return out
}
