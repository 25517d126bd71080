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
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/memory"
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
	Env         workload.Env                // of all containers
	EngineEnv   []corev1.EnvVar             // of the engine's container
	// Cache is the source of the engine's volume of that name; nil is an empty
	// folder.
	Cache *corev1.VolumeSource
	Files
}

// Files are the files of a model, for a node that reads them.
type Files struct {
	// Fetch is the URL from which the files are read into an empty volume, and
	// FetchSecret the Secret with the connection to it. Without Fetch, Claim is
	// the PersistentVolumeClaim that holds them. Without both there are no files.
	Fetch, FetchSecret string
	// FetchKeys are the credentials of it that end.
	FetchKeys workload.StoreKeys
	Claim     string
}

// A Root is the root of a topology.
type Root struct {
	Engine engine.Engine
	Placement
	// Spec names the files of the model and the tokenizer by absolute paths, or
	// by paths in the volume with the model.
	Spec engine.Root
	// Session is the pool whose requests the sidecar takes, which clients address
	// to Model, and BusSecret the Secret with the connection to the queue. Without a
	// session there is no sidecar.
	Session, Model, BusSecret string
	// Login of the sidecar, if BusSecret has none.
	Login workload.Login
	// APIKey is the key of a server outside the pods; nil is none.
	APIKey *v1.SecretKeyReference
	// Member names the Dllama or Session in the registry, which holds its weight; ""
	// for none.
	Member string
	// Timeouts of answers; nil are the sidecar's own.
	Timeouts *v1.AnswerTimeouts
}

// Pod returns the pod of the root.
func (r Root) Pod() workload.Pod {
	r.Spec.ModelFile, r.Spec.TokenizerFile = path(r.Spec.ModelFile), path(r.Spec.TokenizerFile)
	r.Spec.Sidecar = r.Session != ""
	r.Spec.Slots = r.Engine.Slots
	r.Spec.ExtraGrace = extraGrace(r.Timeouts)
	pod := r.pod(r.Engine, r.Engine.Root(r.Spec), r.Spec.Koldun, engine.RootGrace+r.Spec.ExtraGrace)
	if r.Spec.Sidecar {
		pod.Ports[engine.PortSidecar] = engine.SidecarNumber
		if r.APIKey != nil {
			pod.Volumes[volumeKey] = "/" + volumeKey
			pod.Sources[volumeKey] = keyFile(*r.APIKey)
		}
		pod.Containers = append(pod.Containers, r.sidecar())
	}
	return pod
}

// A Worker is one of the workers of a topology. Its engine has workers.
type Worker struct {
	Engine engine.Engine
	Placement
	Spec engine.Worker
	// Timeouts of the answers of its root; nil are the sidecar's own.
	Timeouts *v1.AnswerTimeouts
}

// Pod returns the pod of a worker.
func (w Worker) Pod() workload.Pod {
	if w.Fetch != "" || w.Claim != "" {
		w.Spec.ModelFile = path(w.Spec.ModelFile)
	}
	w.Spec.ExtraGrace = extraGrace(w.Timeouts)
	return w.pod(w.Engine, w.Engine.Worker(w.Spec), w.Spec.Koldun, engine.WorkerGrace+w.Spec.ExtraGrace)
}

// pod returns the pod of an engine's part, which is empty for a server outside the
// pods.
func (p Placement) pod(e engine.Engine, part engine.Pod, koldun string, grace time.Duration) workload.Pod {
	pod := workload.Pod{
		Labels:       p.Labels,
		Group:        p.Group,
		Marks:        p.Marks,
		Annotations:  p.Annotations,
		Ports:        map[string]int32{engine.PortEngine: engine.EngineNumber, engine.PortHealth: engine.HealthNumber},
		Volumes:      map[string]string{},
		Sources:      map[string]corev1.VolumeSource{},
		Env:          p.Env,
		PullPolicy:   p.PullPolicy,
		Scheduling:   p.Scheduling,
		GraceSeconds: int64(grace.Seconds()),
	}
	if part.Ports != nil {
		pod.Ports = maps.Clone(part.Ports)
	}
	maps.Copy(pod.Volumes, part.Folders)
	for name, size := range part.Memory {
		pod.Sources[name] = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
			Medium: corev1.StorageMediumMemory, SizeLimit: new(resource.MustParse(size)),
		}}
	}
	if _, has := pod.Volumes[engine.VolumeCache]; has && p.Cache != nil {
		pod.Sources[engine.VolumeCache] = *p.Cache
	}
	p.addFiles(&pod, e, koldun)
	for _, c := range part.Init {
		built := container(c)
		built.Vars = p.EngineEnv
		pod.Init = append(pod.Init, built)
	}
	if part.Main.Name == "" {
		return pod
	}
	main := container(part.Main)
	main.Resources, main.Vars = p.Resources, p.EngineEnv
	pod.Containers = []workload.Container{main}
	return pod
}

// addFiles mounts the files of the model, and fetches them first if they are not
// in a volume.
func (p Placement) addFiles(pod *workload.Pod, e engine.Engine, koldun string) {
	if p.Claim == "" && p.Fetch == "" {
		return
	}
	pod.Volumes[engine.VolumeModel] = "/model"
	if p.Claim != "" {
		pod.Claims = map[string]workload.Claim{engine.VolumeModel: {Name: p.Claim, ReadOnly: true}}
	}
	if p.Fetch == "" {
		return
	}
	fetch := workload.Container{
		Name:    "fetch",
		Image:   koldun,
		Args:    []string{"fetch", "--from=" + p.Fetch, "--to=" + names.DirRef(engine.VolumeModel)},
		Secrets: []string{p.FetchSecret}, StoreKeys: p.FetchKeys,
		Memory:  memory.Fetch(0, 0),
		Request: memory.Fetch(0, 0),
	}
	if _, has := pod.Ports[engine.PortHealth]; has { // free until the engine starts
		fetch.Args = append(fetch.Args, job.ServeProgress(engine.PortHealth))
	}
	if e.API != nil {
		fetch.Folders = []string{engine.VolumeModel}
	}
	pod.Init = append(pod.Init, fetch)
}

func container(c engine.Container) workload.Container {
	out := workload.Container{
		Name: c.Name, Image: c.Image, Command: c.Command, Args: c.Args, Env: c.Env, Fields: c.Fields, ProbePort: c.ProbePort, Folders: c.Volumes,
		User: c.User,
	}
	if c.Startup > 0 {
		out.SidecarPort, out.Startup = engine.PortSidecar, c.Startup
	}
	return out
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

// path returns the path of a file in the container; that of no file is the folder
// of all.
func path(name string) string {
	switch {
	case name == "":
		return names.DirRef(engine.VolumeModel)
	case name[0] == '/':
		return name
	}
	return names.DirRef(engine.VolumeModel) + "/" + name
}
