// Package root composes a Root: the root of a topology, which serves a model
// from a volume on itself and on workers that are anywhere.
package root

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/engine"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/worker"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// Names of the composed resources.
const (
	resRunners = "runners"
	resService = "service"
	resRoot    = "root"
	resGuard   = "guard"
)

// Compose answers one call for a Root.
func Compose(c *compose.Call) error {
	var r v1.Root
	if err := c.Composite(&r); err != nil {
		return err
	}
	c.Legacy(map[string]bool{"spec.cacheSpec": r.Spec.CacheSpec != nil, "spec.memory": r.Spec.Memory != nil})
	p := &plan{Call: c, r: r, status: v1.RootStatus{Status: v1.Status{ObservedGeneration: r.Generation}}}
	if err := p.run(); err != nil {
		return err
	}
	return c.SetStatus(&p.status)
}

// A plan is one composition of one Root.
type plan struct {
	*compose.Call
	r      v1.Root
	status v1.RootStatus

	workers, await []string
	blocking       bool
}

func (p *plan) run() error {
	if p.find() {
		return nil
	}
	p.status.Nodes = int32(len(p.workers)) + 1
	if p.r.Spec.Image == "" && len(p.workers) > 0 {
		p.fail(reason.TopologyInvalid, "spec.image: name an image of distributed-llama: the embedded engine runs on 1 node, not on %d", p.status.Nodes)
		return nil
	}
	if blocked, err := p.queue(); err != nil || blocked {
		return err
	}
	return p.serve()
}

func (p *plan) fail(why reason.Reason, format string, args ...any) {
	if !p.blocking {
		p.blocking = true
		p.False(v1.ConditionServing, why, format, args...)
	}
}

// find lists the workers: those that are named, or those that are selected, in
// the order of their names.
func (p *plan) find() (blocked bool) {
	p.workers = p.r.Spec.Workers
	selector := p.r.Spec.WorkerSelector
	if len(selector) == 0 {
		return false
	}
	var found []*v1.Worker
	known := p.RequireAll("workers", v1.APIVersion, v1.KindWorker, p.r.Namespace, selector, func() any {
		w := &v1.Worker{}
		found = append(found, w)
		return w
	})
	slices.SortFunc(found, func(a, b *v1.Worker) int { return strings.Compare(a.Name, b.Name) })
	for _, w := range found {
		set, n := worker.Set(w.Name), worker.Replicas(w)
		p.workers = append(p.workers, engine.Addresses(p.r.Namespace, set, n, engine.EngineNumber)...)
		p.await = append(p.await, engine.Addresses(p.r.Namespace, set, n, engine.HealthNumber)...)
	}
	if len(p.workers) > 0 || !known && p.Exists(resRoot) {
		return false
	}
	p.fail(reason.WorkersNotFound, "spec.workerSelector: no Worker of namespace %q has the labels", p.r.Namespace)
	return true
}

// queue composes the connection to the queue, if requests come from there.
func (p *plan) queue() (blocked bool, err error) {
	if p.r.Spec.Serves == "" {
		return false, nil
	}
	owner := connection.Owner{Kind: "root", Namespace: p.r.Namespace, Name: p.r.Name}
	nats, problem := connection.NATS(p.Call, owner, "spec.nats", p.r.Spec.NATS)
	var via managed.Via
	if problem.Message != "" {
		p.fail(problem.Reason, "%s", problem.Message)
		via, err = connection.Keep(p.Call, resRunners)
	} else {
		via, err = nats.Compose(p.Call, owner)
	}
	if err != nil || problem.Message != "" && !p.Exists(resRoot) {
		return true, err
	}
	runners := managed.KeyValue(via, p.r.Namespace, names.Object(p.r.Name, "root", "runners"), p.busSecret(), managed.Expiring(names.RunnersBucket))
	pending, err := managed.Await(p.Call, map[string]any{resRunners: runners})
	if err != nil || pending == "" || p.Exists(resRoot) {
		return false, err
	}
	p.fail(reason.ConnectionPending, "%s", pending)
	return true, nil
}

func (p *plan) busSecret() string { return connection.BusSecret("root", p.r.Name) }
func (p *plan) name() string      { return names.Object(p.r.Name, "alone") }

func (p *plan) serve() error {
	pod := p.pod()
	port, number := engine.PortHealth, engine.HealthNumber
	if p.r.Spec.Serves != "" {
		port, number = engine.PortSidecar, engine.SidecarNumber
	}
	if err := p.Desire(resService, workload.Headless(p.r.Namespace, p.name(), pod.Labels, map[string]int32{port: number}), compose.Ready); err != nil {
		return err
	}
	p.status.Endpoint = fmt.Sprintf("%s.%s.svc:%d", p.name(), p.r.Namespace, number)
	ready := p.ReadyReplicas(resRoot) > 0
	if err := p.Desire(resRoot, workload.StatefulSet(p.r.Namespace, p.name(), 1, pod), compose.Readiness(ready)); err != nil {
		return err
	}
	doors := []workload.Door{{Port: engine.HealthNumber}, {Port: engine.SidecarNumber}}
	if err := p.Desire(resGuard, workload.Guard(p.r.Namespace, p.name(), pod.Labels, doors...), compose.Ready); err != nil {
		return err
	}
	switch {
	case !ready:
		p.fail(reason.RootStarting, "StatefulSet %q is not ready: the root loads %s", p.name(), p.r.Spec.ModelFile)
	case !p.blocking:
		p.True(v1.ConditionServing, reason.Available, "The root serves on %d nodes", p.status.Nodes)
	}
	return nil
}

func (p *plan) pod() workload.Pod {
	s := p.r.Spec
	out := engine.Root{
		Settings: engine.Settings{
			Engine:     engine.DistributedLlama,
			Koldun:     p.Image,
			Threads:    max(s.NThreads, 1),
			Extra:      s.Args,
			PullPolicy: s.ImagePullPolicy,
			Scheduling: s.Scheduling,
			Labels:     workload.Labels("root", "root", p.r.Name),
		},
		Image:         s.Image,
		ModelFile:     s.ModelFile,
		TokenizerFile: s.TokenizerFile,
		Buffers:       s.BufferFloatType,
		SeqLen:        s.MaxSeqLen,
		Claim:         s.ModelRef,
		Workers:       p.workers,
		Await:         p.await,
	}
	if s.Image == "" {
		out.Engine, out.Image = engine.Embedded, p.Image
	}
	if s.Resources != nil {
		out.Resources = *s.Resources
	}
	if namespace, name, ok := strings.Cut(s.Serves, "/"); ok {
		out.Session, out.Model, out.BusSecret = names.Session(namespace, name, ""), s.Serves, p.busSecret()
	}
	return out.Pod()
}
