// Package root composes a Root: the root of a topology, which serves a model
// from a volume on itself and on workers in the cluster or managed.
package root

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/enginepod"
	"github.com/gorizond/koldun/functions/grant"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/platform"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/worker"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/catalog"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/network/egress"
)

// Names of the composed resources.
const (
	resRunners = "runners"
	resService = "service"
	resRoot    = "root"
	resGuard   = "guard"
)

// Names of what is composed and required for a Model of another namespace.
const (
	resRegistry = "registry"
	resRecord   = "record"
	resModel    = "model"
	resNamesake = "namesake"
)

// Compose answers one call for a Root.
func Compose(c *compose.Call) error {
	var r v1.Root
	if err := c.Composite(&r); err != nil {
		return err
	}
	c.Legacy(map[string]bool{
		"spec.cacheSpec": r.Spec.CacheSpec != nil,
		"spec.memory":    r.Spec.Memory != nil,
		"spec.nats":      r.Spec.NATS != nil && r.Spec.Serves == "",
	})
	p := &rootPlan{Plan: compose.Plan{Call: c}, r: r, status: v1.RootStatus{Status: v1.Status{ObservedGeneration: r.Generation}}}
	if err := p.Run(p.joinPool, p.allow, p.findWorkers, p.chooseEngine, p.queue, p.serve); err != nil {
		return err
	}
	return c.Finish(&p.status)
}

// A rootPlan is one composition of one Root.
type rootPlan struct {
	compose.Plan
	r      v1.Root
	status v1.RootStatus

	session          string   // pool whose requests the root takes; empty is none
	model            string   // name of its Model
	foreign          bool     // whether that is another namespace's
	workers, waitFor []string // HOST:PORT of engines, and of supervisors
	engine           engine.Engine
	logins           connection.Logins // set with the connection to the queue
}

// allow refuses what the platform team keeps to itself.
func (p *rootPlan) allow() (compose.Next, error) {
	return p.Allow(p.r.Namespace, platform.Image("spec.image", p.r.Spec.Image), platform.Args("spec.args", p.r.Spec.Args)), nil
}

// joinPool finds the pool whose requests the root takes. It is of the Root's own
// namespace, whatever the Model's is: a Root of another namespace would read the prompts
// of this one.
func (p *rootPlan) joinPool() (compose.Next, error) {
	namespace, name, serves := strings.Cut(p.r.Spec.Serves, "/")
	if !serves {
		return compose.Continue, nil
	}
	if namespace != p.r.Namespace {
		if problem := p.refuses(namespace, name); problem != "" {
			p.Fail(reason.ServesInvalid, "spec.serves: %s", problem)
			return compose.Stop, nil
		}
		p.foreign = true
	}
	p.model, p.session = name, names.Session(p.r.Namespace, name, "")
	return compose.Continue, nil
}

// refuses says why a Model of another namespace is not served here; empty if it is. One
// that cannot be read is served on, but not for the first time.
func (p *rootPlan) refuses(namespace, name string) string {
	if namespace == "" {
		return fmt.Sprintf("%q has no namespace: write NAMESPACE/NAME", p.r.Spec.Serves)
	}
	state := grant.Of(p.Call, resModel, namespace, name, p.r.Namespace)
	if state == grant.Denied || state == grant.Unread && !p.Exists(resRoot) {
		return fmt.Sprintf("Model %q does not exist in namespace %q, or its spec.allowedNamespaces lacks namespace %q", name, namespace, p.r.Namespace)
	}
	if taken, _ := p.Require(resNamesake, v1.APIVersion, v1.KindModel, p.r.Namespace, name, &v1.Model{}); taken {
		return fmt.Sprintf("a Model %q is in namespace %q too, so clients there cannot ask for the one of namespace %q: rename one", name, p.r.Namespace, namespace)
	}
	return ""
}

// findWorkers lists the workers: those that are named, or those that are
// selected, in the order of their names.
func (p *rootPlan) findWorkers() (compose.Next, error) {
	p.workers = p.r.Spec.Workers
	if selector := p.r.Spec.WorkerSelector; len(selector) > 0 {
		known := p.selectWorkers(selector)
		if len(p.workers) == 0 && (known || !p.Exists(resRoot)) {
			p.Fail(reason.WorkersNotFound, "spec.workerSelector: no Worker of namespace %q has the labels", p.r.Namespace)
			return compose.Stop, nil
		}
	}
	p.status.Nodes = int32(len(p.workers)) + 1
	return compose.Continue, nil
}

// selectWorkers adds the Workers with the labels. known is false until
// Crossplane has looked for them.
func (p *rootPlan) selectWorkers(labels map[string]string) (known bool) {
	var found []*v1.Worker
	known = p.RequireAll("workers", v1.APIVersion, v1.KindWorker, p.r.Namespace, labels, func() any {
		w := &v1.Worker{}
		found = append(found, w)
		return w
	})
	slices.SortFunc(found, func(a, b *v1.Worker) int { return strings.Compare(a.Name, b.Name) })
	for _, w := range found {
		set, n := worker.Set(w.Name), worker.Replicas(w)
		p.workers = append(p.workers, enginepod.Addresses(p.r.Namespace, set, n, engine.EngineNumber)...)
		p.waitFor = append(p.waitFor, enginepod.Addresses(p.r.Namespace, set, n, engine.HealthNumber)...)
	}
	return known
}

func (p *rootPlan) chooseEngine() (compose.Next, error) {
	chosen, err := catalog.Choose(catalog.Claim{Nodes: int(p.status.Nodes), Koldun: p.Image, Images: []string{p.r.Spec.Image}})
	if err != nil {
		p.Fail(reason.TopologyInvalid, "spec.image: %v", err)
		return compose.Stop, nil
	}
	p.engine = chosen
	return compose.Continue, nil
}

// queue composes the connection to the queue, if requests come from there.
func (p *rootPlan) queue() (compose.Next, error) {
	if p.session == "" {
		return compose.Continue, nil
	}
	owner := connection.Owner{Kind: "root", Namespace: p.r.Namespace, Name: p.r.Name}
	nats, problem := connection.NATS(p.Call, owner, "spec.nats", p.r.Spec.NATS)
	via, err := nats.ComposeOrKeep(p.Call, owner, problem, resRunners)
	if err != nil {
		return compose.Stop, err
	}
	running := p.Exists(resRoot)
	if problem.Message != "" {
		p.Fail(problem.Reason, "%s", problem.Message)
		if !running {
			return compose.Stop, nil
		}
	}
	runners := managed.KeyValue(via, p.r.Namespace, names.Object(p.r.Name, "root", "runners"), p.busSecret(), managed.Expiring(names.RunnersBucket))
	desired := map[string]any{resRunners: runners}
	if p.foreign {
		p.list(desired, via)
	}
	pending, err := managed.Await(p.Call, desired)
	if err != nil {
		return compose.Stop, err
	}
	user := connection.Runner(p.session, p.r.Namespace, p.name()+"-0", p.model)
	logins, waiting, err := connection.Users(p.Call, via, owner, connection.AccountOf(p.Call, resRunners), user)
	p.logins, pending = logins, cmp.Or(pending, waiting)
	if err != nil || !pending.Any() || running {
		return compose.Continue, err
	}
	p.FailIf(pending.Reason, pending.Message)
	return compose.Stop, nil
}

// list lists a Model of another namespace in this one, so that requests here can name it.
func (p *rootPlan) list(desired map[string]any, via managed.Via) {
	desired[resRegistry] = managed.Registry(via, p.r.Namespace, names.Object(p.r.Name, "root", "registry"))
	desired[resRecord] = managed.Record(via, p.r.Namespace, names.Object(p.r.Name, "root", "record"), p.model, "")
}

func (p *rootPlan) busSecret() string { return connection.BusSecret("root", p.r.Name) }
func (p *rootPlan) name() string      { return names.Object(p.r.Name, "alone") }

func (p *rootPlan) serve() (compose.Next, error) {
	pod := p.pod()
	port, number := engine.PortHealth, engine.HealthNumber
	if p.session != "" {
		port, number = engine.PortSidecar, engine.SidecarNumber
	}
	if err := p.Desire(resService, workload.Headless(p.r.Namespace, p.name(), pod.Labels, map[string]int32{port: number}), compose.Ready); err != nil {
		return compose.Stop, err
	}
	p.status.Endpoint = fmt.Sprintf("%s.%s.svc:%d", p.name(), p.r.Namespace, number)
	ready := p.ReadyReplicas(resRoot) > 0
	if err := p.Desire(resRoot, workload.StatefulSet(p.r.Namespace, p.name(), 1, pod), compose.Readiness(ready)); err != nil {
		return compose.Stop, err
	}
	doors := []workload.Door{{Port: engine.HealthNumber}, {Port: engine.SidecarNumber}}
	ways := workload.Anywhere()
	if workload.Guarded(p.r.Spec.NetworkPolicy) {
		ways = p.egress(pod).Ways(p.Call)
	}
	if err := p.Desire(resGuard, workload.Guard(p.r.Namespace, p.name(), pod.Labels, doors, ways), compose.Ready); err != nil {
		return compose.Stop, err
	}
	pods, err := managed.WatchProgress(p.Call, p.r.Namespace, names.Object(p.r.Name, "root", "pods"), pod.Labels, engine.PortHealth)
	if err != nil {
		return compose.Stop, err
	}
	if !ready {
		p.FailIf(pods.Reason, pods.Message)
		p.Fail(reason.RootStarting, "StatefulSet %q is not ready: the root %s", p.name(), pods.Of(p.name()+"-0").Start(p.r.Spec.ModelFile))
	}
	p.Serve(reason.Available, "The root serves on %d nodes", p.status.Nodes)
	return compose.Continue, nil
}

// egress says what the root connects to: its workers, and the queue if requests come from
// there.
func (p *rootPlan) egress(pod workload.Pod) connection.Egress {
	out := connection.Egress{Policy: resGuard, Scheduling: p.r.Spec.Scheduling, Ports: pod.Env.Ports()}
	for _, address := range slices.Concat(p.workers, p.waitFor) {
		out.Ports = append(out.Ports, egress.Ports("tcp", address)...)
	}
	if p.session != "" {
		out.Systems = [][]int32{connection.Ports(p.Call, resRunners)}
	}
	return out
}

func (p *rootPlan) pod() workload.Pod {
	s := p.r.Spec
	out := enginepod.Root{
		Engine: p.engine,
		Placement: enginepod.Placement{
			Env:        workload.EnvOf(s.Env, s.EnvFrom),
			PullPolicy: s.ImagePullPolicy,
			Scheduling: s.Scheduling,
			Labels:     workload.Labels("root", "root", p.r.Name),
			Files:      enginepod.Files{Claim: s.ModelRef},
		},
		Spec: engine.Root{
			Node: engine.Node{
				Image:     p.engine.ImageFor(p.Image, s.Image),
				Koldun:    p.Image,
				Threads:   p.Threads(s.NThreads, int(p.status.Nodes)),
				ExtraArgs: s.Args,
			},
			ModelFile:     s.ModelFile,
			TokenizerFile: s.TokenizerFile,
			Buffers:       s.BufferFloatType,
			SeqLen:        s.MaxSeqLen,
			Workers:       p.workers,
			WaitFor:       p.waitFor,
		},
	}
	if s.Resources != nil {
		out.Resources = *s.Resources
	}
	if p.session != "" {
		out.Session, out.Model, out.BusSecret, out.Login, out.Timeouts = p.session, p.r.Namespace+"/"+p.model, p.busSecret(), p.logins.Runner(), s.AnswerTimeouts
	}
	return out.Pod()
}
