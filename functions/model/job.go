package model

import (
	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// job returns the Job of a stage.
func (p *plan) job(stage string, c workload.Container, claims map[string]workload.Claim) (job.Job, error) {
	c.Name, c.Image = stage, p.Image
	pod := workload.Pod{
		Labels:       workload.Labels(stage, "model", p.m.Name),
		Containers:   []workload.Container{c},
		Claims:       claims,
		Env:          workload.EnvOf(p.m.Spec.Env, p.m.Spec.EnvFrom),
		PullPolicy:   p.m.Spec.ImagePullPolicy,
		Scheduling:   p.m.Spec.Scheduling,
		GraceSeconds: job.GraceSeconds,
	}
	if stage == resFill {
		pod.Ports = map[string]int32{job.PortProgress: job.ProgressNumber}
	}
	for name := range claims {
		pod.Volumes = map[string]string{name: "/" + name}
	}
	return job.Named(workload.Job(p.m.Namespace, "", job.Retries, pod), p.m.Name, stage)
}

// watchPods watches the pods of the Model's Jobs.
func (p *plan) watchPods() (managed.Pods, error) {
	return managed.WatchProgress(p.Call, p.m.Namespace, names.Object(p.m.Name, "model", "pods"), workload.Owner("model", p.m.Name), job.PortProgress)
}
