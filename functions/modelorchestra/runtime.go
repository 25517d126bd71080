package modelorchestra

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
)

const (
	engineServer   = "openai"
	sourceDownload = "download"
)

// runtime is how Koldun runs an application. Without an engine, vllm serves on CUDA
// devices.
func (k koldun) runtime(a application) v1.Runtime {
	env, _ := envOf(a.OrchestraPod)
	r := v1.Runtime{PodEnv: env, Nodes: a.Nodes, ImagePullPolicy: a.Image.PullPolicy, RootResources: a.Resources, Scheduling: k.scheduling(a.OrchestraPod)}
	cuda := a.ReaderConfig.Device == deviceCUDA
	switch {
	case a.Engine != nil:
		r.Engine = *a.Engine
	case cuda:
		r.Engine = v1.Engine{Type: engineServer, Server: &v1.Server{Profile: "vllm"}}
	}
	if cuda && r.Engine.Server != nil && r.Engine.Server.URL == "" {
		r.RootResources = withGPUs(r.RootResources, gpus(a))
	}
	if n := a.ReaderConfig.MaxSequenceLength; n != nil && r.Engine.MaxSeqLen == 0 {
		r.Engine.MaxSeqLen = *n
	}
	return r
}

// readsNoFiles reports whether the server of an engine downloads models itself, or is
// outside of the cluster.
func readsNoFiles(e v1.Engine) bool {
	return e.Server != nil && (e.Server.URL != "" || e.Server.Source == sourceDownload)
}

// invalid returns what is wrong with an application that Koldun is to run: the path of
// the field, and why.
func invalid(a application, r v1.Runtime, group string) string {
	c := a.ReaderConfig
	switch {
	case !modelName.MatchString(group):
		return "readerConfig.consumerGroup: with backend Koldun it is the name of a model: up to 63 lower-case letters, digits and dashes"
	case c.Device == "api" && a.Engine == nil:
		return "readerConfig.device: api needs engine, with the URL of the API in engine.server.url"
	case readsNoFiles(r.Engine) && scaled(a.Scaling):
		return "scaling: only applications whose engine reads the files of a Model are scaled"
	case !readsNoFiles(r.Engine) && a.ModelRef == nil && c.ModelName == "":
		return "readerConfig.modelName: the model is missing: give its repository, or modelRef"
	case c.AccessTokenSecretRef != nil && c.AccessTokenSecretRef.Key != tokenKey:
		return `readerConfig.accessTokenSecretRef.key: with backend Koldun the key is "token"`
	}
	return ""
}

// withoutEffect lists the given fields that have no effect with backend Koldun, whose
// kinds build their own pods.
func withoutEffect(s v1.ModelOrchestraSpec) map[string]bool {
	out := map[string]bool{"spec.serviceAccount": s.ServiceAccount != nil, "spec.gateway.exportPrometheusMetrics": s.Gateway.ExportPrometheusMetrics}
	ignoredOf("spec.gateway", s.Gateway.OrchestraPod, out)
	ignoredOf("spec.applicationTemplate", s.ApplicationTemplate.OrchestraPod, out)
	for name, a := range s.Applications {
		path := "spec.applications." + name
		ignoredOf(path, a.OrchestraPod, out)
		out[path+".modelsVolume"] = a.ModelsVolume != nil
		out[path+".service"] = a.Service != nil
		out[path+".ingress"] = enabled(a.Ingress.Enabled)
		out[path+".scaling.type"] = a.Scaling.Type == scalerHPA
	}
	return out
}

func ignoredOf(path string, pod v1.OrchestraPod, out map[string]bool) {
	for field, given := range map[string]bool{
		"image": pod.Image.Repository != "" || pod.Image.Tag != "", "podAnnotations": len(pod.PodAnnotations) > 0,
		"podLabels": len(pod.PodLabels) > 0, "podSecurityContext": pod.PodSecurityContext != nil, "securityContext": pod.SecurityContext != nil,
		"ports": len(pod.Ports) > 0, "livenessProbe": pod.LivenessProbe != nil, "readinessProbe": pod.ReadinessProbe != nil,
		"startupProbe": pod.StartupProbe != nil, "volumes": len(pod.Volumes) > 0, "volumeMounts": len(pod.VolumeMounts) > 0,
	} {
		out[path+"."+field] = given
	}
	for field, given := range workload.OptionalKeys(pod.Env) {
		out[path+"."+field] = given
	}
}
