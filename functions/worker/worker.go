// Package worker composes a Worker: workers of a topology, for a root in the
// same namespace or outside the cluster.
package worker

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/enginepod"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/platform"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/catalog"
	"github.com/gorizond/koldun/internal/names"
)

// Names of the composed resources.
const (
	resService = "service"
	resWorkers = "workers"
	resGuard   = "guard"
	resBudget  = "budget"
)

// Compose answers one call for a Worker.
func Compose(c *compose.Call) error {
	var w v1.Worker
	if err := c.Composite(&w); err != nil {
		return err
	}
	s := w.Spec
	c.Legacy(map[string]bool{
		"spec.modelRef":  s.ModelRef != "",
		"spec.slot":      s.Slot != 0,
		"spec.cacheSpec": s.CacheSpec != nil,
		"spec.nats":      s.NATS != nil,
	})
	p := &workerPlan{Plan: compose.Plan{Call: c}, w: w, set: Set(w.Name), replicas: Replicas(&w)}
	p.status = v1.WorkerStatus{
		Status:    v1.Status{ObservedGeneration: w.Generation},
		Replicas:  p.replicas,
		Addresses: enginepod.Addresses(w.Namespace, p.set, p.replicas, engine.EngineNumber),
	}
	if err := p.Run(p.allow, p.chooseEngine, p.workers, p.protect, p.report); err != nil {
		return err
	}
	return c.Finish(&p.status)
}

// Set is the name of the StatefulSet of a Worker.
func Set(worker string) string { return names.Object(worker, "worker") }

// Replicas is the number of workers of a Worker.
func Replicas(w *v1.Worker) int32 {
	if w.Spec.Replicas == nil {
		return 1
	}
	return *w.Spec.Replicas
}

// A workerPlan is one composition of one Worker.
type workerPlan struct {
	compose.Plan
	w        v1.Worker
	status   v1.WorkerStatus
	set      string // name of the StatefulSet
	replicas int32
	engine   engine.Engine
	pod      workload.Pod
}

// allow refuses what the platform team keeps to itself.
func (p *workerPlan) allow() (compose.Next, error) {
	return p.Allow(p.w.Namespace, platform.Image("spec.image", p.w.Spec.Image), platform.Args("spec.args", p.w.Spec.Args)), nil
}

func (p *workerPlan) chooseEngine() (compose.Next, error) {
	// A worker is never the only node of its topology.
	chosen, err := catalog.Choose(catalog.Claim{Nodes: 2, Koldun: p.Image, Images: []string{p.w.Spec.Image}})
	if err != nil {
		p.Fail(reason.TopologyInvalid, "spec.image: %v", err)
		return compose.Stop, nil
	}
	p.engine = chosen
	return compose.Continue, nil
}

// workers composes the pods, and the Service that gives them names.
func (p *workerPlan) workers() (compose.Next, error) {
	p.pod = p.build()
	service := workload.Headless(p.w.Namespace, p.set, p.pod.Labels, map[string]int32{engine.PortHealth: engine.HealthNumber})
	if err := p.Desire(resService, service, compose.Ready); err != nil {
		return compose.Stop, err
	}
	p.status.ReadyReplicas = min(p.ReadyReplicas(resWorkers), p.replicas)
	set := workload.StatefulSet(p.w.Namespace, p.set, p.replicas, p.pod)
	return compose.Continue, p.Desire(resWorkers, set, compose.Readiness(p.allReady()))
}

func (p *workerPlan) allReady() bool { return p.status.ReadyReplicas == p.replicas }

func (p *workerPlan) build() workload.Pod {
	s := p.w.Spec
	out := enginepod.Worker{
		Engine: p.engine,
		Placement: enginepod.Placement{
			Env:        workload.EnvOf(s.Env, s.EnvFrom),
			PullPolicy: s.ImagePullPolicy,
			Scheduling: s.Scheduling,
			Labels:     workload.Labels("worker", "worker", p.w.Name),
		},
		Spec: engine.Worker{Node: engine.Node{
			Image:     p.engine.ImageFor(p.Image, s.Image),
			Koldun:    p.Image,
			Threads:   p.Threads(s.NThreads, int(p.replicas)+1),
			ExtraArgs: s.Args,
		}},
	}
	if s.AnswerGrace != nil {
		out.Timeouts = &v1.AnswerTimeouts{Grace: s.AnswerGrace}
	}
	if s.Resources != nil {
		out.Resources = *s.Resources
	}
	return out.Pod()
}

// protect opens the engines' port to the named root, to the workers of the namespace, as a
// root may have several Workers, and to networks outside the cluster, and keeps a drain of
// nodes from evicting several workers at a time.
func (p *workerPlan) protect() (compose.Next, error) {
	door := workload.Door{Port: engine.EngineNumber}
	root := workload.Pods(nil)
	if p.w.Spec.RootRef != "" {
		root = workload.Pods(workload.Labels("root", "root", p.w.Spec.RootRef))
	}
	door.Peers = append(door.Peers, root, workload.Kind("worker"))
	for _, cidr := range p.w.Spec.RootCIDRs {
		door.Peers = append(door.Peers, workload.Network(cidr))
	}
	// Workers connect to each other by the names that the root gives them.
	ways := workload.Outside(nil, []int32{engine.EngineNumber})
	if !workload.Guarded(p.w.Spec.NetworkPolicy) {
		ways = workload.Anywhere()
	}
	policy := workload.Guard(p.w.Namespace, p.set, p.pod.Labels, []workload.Door{door, {Port: engine.HealthNumber}}, ways)
	if err := p.Desire(resGuard, policy, compose.Ready); err != nil {
		return compose.Stop, err
	}
	return compose.Continue, p.Desire(resBudget, workload.Budget(p.w.Namespace, p.set, p.pod.Labels), compose.Ready)
}

func (p *workerPlan) report() (compose.Next, error) {
	problem, err := managed.Watch(p.Call, p.w.Namespace, names.Object(p.w.Name, "worker", "pods"), p.pod.Labels)
	if err != nil {
		return compose.Stop, err
	}
	if !p.allReady() {
		p.FailIf(problem.Reason, problem.Message)
	}
	switch {
	case p.replicas == 0:
		p.Serve(reason.Idle, "There are no workers: spec.replicas is 0")
	case !p.allReady():
		p.Fail(reason.WorkersStarting, "StatefulSet %q is not ready: not all of its %d workers listen", p.set, p.replicas)
	default:
		p.Serve(reason.Available, "%d workers listen or work", p.replicas)
	}
	return compose.Continue, nil
}
