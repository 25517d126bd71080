// Package enginepod builds the pods of a topology from the description of an
// engine: a root, which holds the model's files and serves, and the workers, to
// which the root sends their share.
//
// No probe and no Service leads to an engine's own port: one connection from
// anything but a peer may end the engine.
package enginepod

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/names"
)

// Placement says how a pod is labelled, where it runs and what its engine may
// use.
type Placement struct {
	PullPolicy  corev1.PullPolicy
	Scheduling  *v1.Scheduling
	Labels      map[string]string
	Group       map[string]string // labels that root and workers share
	Marks       map[string]string // further labels
	Annotations map[string]string
	Resources   corev1.ResourceRequirements // of the engine's container
}

// A Root is the root of a topology.
type Root struct {
	Engine engine.Engine
	Placement
	// Spec names the files of the model and the tokenizer by absolute paths, or
	// by paths in the volume with the model.
	Spec engine.Root
	// Fetch is the URL from which the files are read into an empty volume, and
	// FetchSecret the Secret with the connection to it. Without Fetch, Claim is
	// the PersistentVolumeClaim that holds them.
	Fetch, FetchSecret string
	Claim              string
	// Session is the pool whose requests the sidecar takes, for Model, and
	// BusSecret the Secret with the connection to the queue. Without a session
	// there is no sidecar.
	Session, Model, BusSecret string
}

// Pod returns the pod of the root.
func (r Root) Pod() workload.Pod {
	spec := r.Spec
	spec.ModelFile, spec.TokenizerFile = path(spec.ModelFile), path(spec.TokenizerFile)
	spec.Sidecar = r.Session != ""
	part := r.Engine.Root(spec)
	pod := r.pod(part, int64(engine.RootGrace.Seconds()))
	pod.Volumes[engine.VolumeModel] = "/model"
	if r.Claim != "" {
		pod.Claims = map[string]workload.Claim{engine.VolumeModel: {Name: r.Claim, ReadOnly: true}}
	}
	if r.Fetch != "" {
		pod.Init = append([]workload.Container{{
			Name:    "fetch",
			Image:   spec.Koldun,
			Args:    []string{"fetch", "--from=" + r.Fetch, "--to=" + names.DirRef(engine.VolumeModel)},
			Secrets: []string{r.FetchSecret},
		}}, pod.Init...)
	}
	if spec.Sidecar {
		pod.Ports[engine.PortSidecar] = engine.SidecarNumber
		pod.Containers = append(pod.Containers, r.sidecar())
	}
	return pod
}

// sidecar is the only client of the engine.
func (r Root) sidecar() workload.Container {
	args := []string{
		"llm", "--listen=:" + names.PortRef(engine.PortSidecar),
		"--engine=http://127.0.0.1:" + names.PortRef(engine.PortEngine),
		"--session=" + r.Session, "--runner=" + names.Runner("$(POD_NAMESPACE)", "$(POD_NAME)"), "--model=" + r.Model,
	}
	if r.Engine.Process != nil {
		args = append(args, "--supervisor=http://127.0.0.1:"+names.PortRef(engine.PortHealth))
	}
	if r.Engine.Slots > 1 {
		args = append(args, fmt.Sprintf("--slots=%d", r.Engine.Slots))
	}
	return workload.Container{
		Name:      "llm",
		Image:     r.Spec.Koldun,
		Args:      args,
		Secrets:   []string{r.BusSecret},
		ProbePort: engine.PortSidecar,
	}
}

// A Worker is one of the workers of a topology. Its engine has workers.
type Worker struct {
	Engine engine.Engine
	Placement
	Spec engine.Worker
}

// Pod returns the pod of a worker.
func (w Worker) Pod() workload.Pod {
	return w.pod(w.Engine.Worker(w.Spec), int64(engine.WorkerGrace.Seconds()))
}

// pod returns the pod of an engine's part.
func (p Placement) pod(part engine.Pod, graceSeconds int64) workload.Pod {
	pod := workload.Pod{
		Labels:       p.Labels,
		Group:        p.Group,
		Marks:        p.Marks,
		Annotations:  p.Annotations,
		Ports:        map[string]int32{engine.PortEngine: engine.EngineNumber, engine.PortHealth: engine.HealthNumber},
		Volumes:      map[string]string{},
		PullPolicy:   p.PullPolicy,
		Scheduling:   p.Scheduling,
		GraceSeconds: graceSeconds,
	}
	maps.Copy(pod.Volumes, part.Folders)
	for _, c := range part.Init {
		pod.Init = append(pod.Init, container(c))
	}
	main := container(part.Main)
	main.Resources = p.Resources
	pod.Containers = []workload.Container{main}
	return pod
}

func container(c engine.Container) workload.Container {
	return workload.Container{
		Name: c.Name, Image: c.Image, Command: c.Command, Args: c.Args, Env: c.Env, ProbePort: c.ProbePort, Folders: c.Volumes,
	}
}

// Addresses returns HOST:PORT of the n pods of a StatefulSet. They carry no
// cluster domain, so that every cluster resolves them.
func Addresses(namespace, set string, n, port int32) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s-%d.%s.%s.svc:%d", set, i, set, namespace, port)
	}
	return out
}

// path returns the path of a file in the container.
func path(name string) string {
	if name != "" && name[0] == '/' {
		return name
	}
	return names.DirRef(engine.VolumeModel) + "/" + name
}
