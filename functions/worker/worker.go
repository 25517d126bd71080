// Package worker composes a Worker: workers of a topology, for a root that is
// anywhere.
package worker

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/engine"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
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
	n, set := Replicas(&w), Set(w.Name)
	status := v1.WorkerStatus{
		Status:    v1.Status{ObservedGeneration: w.Generation},
		Replicas:  n,
		Addresses: engine.Addresses(w.Namespace, set, n, engine.EngineNumber),
	}
	if s.Image == "" {
		c.False(v1.ConditionServing, reason.TopologyInvalid, "spec.image: name an image of distributed-llama: the embedded engine has no workers")
		return c.SetStatus(&status)
	}
	p := pod(c, &w)
	service := workload.Headless(w.Namespace, set, p.Labels, map[string]int32{engine.PortHealth: engine.HealthNumber})
	if err := c.Desire(resService, service, compose.Ready); err != nil {
		return err
	}
	status.ReadyReplicas = min(c.ReadyReplicas(resWorkers), n)
	ready := status.ReadyReplicas == n
	if err := c.Desire(resWorkers, workload.StatefulSet(w.Namespace, set, n, p), compose.Readiness(ready)); err != nil {
		return err
	}
	if err := guard(c, &w, p); err != nil {
		return err
	}
	switch {
	case n == 0:
		c.True(v1.ConditionServing, reason.Idle, "There are no workers: spec.replicas is 0")
	case !ready:
		c.False(v1.ConditionServing, reason.WorkersStarting, "StatefulSet %q is not ready: not all of its %d workers listen", set, n)
	default:
		c.True(v1.ConditionServing, reason.Available, "%d workers listen or work", n)
	}
	return c.SetStatus(&status)
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

func pod(c *compose.Call, w *v1.Worker) workload.Pod {
	s := w.Spec
	out := engine.Worker{
		Settings: engine.Settings{
			Engine:     engine.DistributedLlama,
			Koldun:     c.Image,
			Threads:    max(s.NThreads, 1),
			Extra:      s.Args,
			PullPolicy: s.ImagePullPolicy,
			Scheduling: s.Scheduling,
			Labels:     workload.Labels("worker", "worker", w.Name),
		},
		Image: s.Image,
	}
	if s.Resources != nil {
		out.Resources = *s.Resources
	}
	return out.Pod()
}

// guard lets to the engines' port only the root that is named, the other
// workers, and networks outside.
func guard(c *compose.Call, w *v1.Worker, p workload.Pod) error {
	door := workload.Door{Port: engine.EngineNumber}
	root := workload.Pods(nil)
	if w.Spec.RootRef != "" {
		root = workload.Pods(workload.Labels("root", "root", w.Spec.RootRef))
	}
	door.Peers = append(door.Peers, root, workload.Pods(p.Labels))
	for _, cidr := range w.Spec.RootCIDRs {
		door.Peers = append(door.Peers, workload.Network(cidr))
	}
	policy := workload.Guard(w.Namespace, Set(w.Name), p.Labels, door, workload.Door{Port: engine.HealthNumber})
	if err := c.Desire(resGuard, policy, compose.Ready); err != nil {
		return err
	}
	return c.Desire(resBudget, workload.Budget(w.Namespace, Set(w.Name), p.Labels), compose.Ready)
}
