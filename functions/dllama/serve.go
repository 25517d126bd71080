package dllama

import (
	"encoding/json"
	"strconv"

	policyv1 "k8s.io/api/policy/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/engine"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// serve composes the pods. Root and workers start together: the root's
// supervisor waits until all workers listen.
func (p *plan) serve() error {
	root, worker := p.rootPod(), p.workerPod()
	workers := p.status.Nodes - 1
	if workers > 0 {
		if err := p.bind(&root, &worker); err != nil {
			return err
		}
	}
	readyWorkers, err := p.workers(workers, worker)
	if err != nil {
		return err
	}
	ready, err := p.root(root)
	if err != nil {
		return err
	}
	if err := p.guards(workers > 0, root, worker); err != nil {
		return err
	}
	if workers > 0 {
		if err := p.protect(root, ready && readyWorkers == workers); err != nil {
			return err
		}
	}
	p.status.ReadyRoot, p.status.ReadyWorkers = ready, quarters(readyWorkers, workers)
	if ingress := (v1.Ingress{}); p.Observed(resIngress, &ingress) {
		p.status.URL = ingress.Status.URL
	}
	switch {
	case readyWorkers < workers:
		p.fail(reason.WorkersStarting, "StatefulSet %q is not ready: not all of its %d workers listen", p.workersName(), workers)
	case !ready:
		p.fail(reason.RootStarting, "StatefulSet %q is not ready: the root loads %s", p.rootName(), p.artifact.ModelFile)
	case p.d.Spec.Expose != nil && !p.exposed():
		p.fail(reason.GatewayStarting, "%s", p.gatewayPending())
	case !p.blocking:
		p.True(v1.ConditionServing, reason.Available, "%s is served on %s", p.status.Model, plural(int(p.status.Nodes), "node"))
	}
	return nil
}

// quarters rounds a part down to quarters of the whole.
func quarters(part, whole int32) int32 {
	if part >= whole {
		return whole
	}
	step := (whole + 3) / 4
	return part / step * step
}

func (p *plan) rootName() string    { return names.Root(p.d.Name) }
func (p *plan) workersName() string { return names.Object(p.d.Name, "workers") }

// bind marks root and workers with a hash of both, so that a change to one
// restarts all: they must be of the same build.
func (p *plan) bind(root, worker *workload.Pod) error {
	raw, err := json.Marshal([]any{root.Template(), worker.Template()})
	if err != nil {
		return err
	}
	hash := names.Hash(16, string(raw))
	root.Annotations[v1.AnnotationGroup], worker.Annotations[v1.AnnotationGroup] = hash, hash
	return nil
}

func (p *plan) root(pod workload.Pod) (ready bool, err error) {
	name := p.rootName()
	service := workload.Headless(p.d.Namespace, name, pod.Labels, map[string]int32{engine.PortSidecar: engine.SidecarNumber})
	if err := p.Desire(resService, service, compose.Ready); err != nil {
		return false, err
	}
	ready = p.ReadyReplicas(resRoot) > 0
	return ready, p.Desire(resRoot, workload.StatefulSet(p.d.Namespace, name, 1, pod), compose.Readiness(ready))
}

// workers composes the workers. Their Service gives them names and carries no
// traffic.
func (p *plan) workers(n int32, pod workload.Pod) (ready int32, err error) {
	if n == 0 {
		return 0, nil
	}
	name := p.workersName()
	service := workload.Headless(p.d.Namespace, name, pod.Labels, map[string]int32{engine.PortHealth: engine.HealthNumber})
	if err := p.Desire(resWorkerService, service, compose.Ready); err != nil {
		return 0, err
	}
	ready = min(p.ReadyReplicas(resWorkers), n)
	return ready, p.Desire(resWorkers, workload.StatefulSet(p.d.Namespace, name, n, pod), compose.Readiness(ready == n))
}

// guards closes the engines' ports to everyone but their peers. The embedded
// engine alone listens on loopback, and needs none.
func (p *plan) guards(group bool, root, worker workload.Pod) error {
	if p.engine() != engine.DistributedLlama {
		return nil
	}
	ns := p.d.Namespace
	health := workload.Door{Port: engine.HealthNumber}
	guard := workload.Guard(ns, p.rootName(), root.Labels, workload.Door{Port: engine.SidecarNumber}, health)
	if err := p.Desire(resRootGuard, guard, compose.Ready); err != nil || !group {
		return err
	}
	peers := workload.Door{Port: engine.EngineNumber}
	peers.Peers = append(peers.Peers, workload.Pods(root.Labels), workload.Pods(worker.Labels))
	return p.Desire(resWorkerGuard, workload.Guard(ns, p.workersName(), worker.Labels, peers, health), compose.Ready)
}

// protect keeps several nodes of a group from being drained at once, from when
// the group has become complete until it is to be another one. Before that
// there is nothing to keep, and a budget whose status follows each pod of a
// rollout would be one more event for each.
func (p *plan) protect(root workload.Pod, complete bool) error {
	group := root.Annotations[v1.AnnotationGroup]
	var seen policyv1.PodDisruptionBudget
	kept := p.Observed(resBudget, &seen) && seen.Annotations[v1.AnnotationGroup] == group
	if !complete && !kept {
		return nil
	}
	budget := workload.Budget(p.d.Namespace, names.Object(p.d.Name, "group"), workload.Owner("dllama", p.d.Name))
	budget.Annotations = map[string]string{v1.AnnotationGroup: group}
	return p.Desire(resBudget, budget, compose.Ready)
}

func (p *plan) settings() engine.Settings {
	s := p.d.Spec.Runtime
	out := engine.Settings{
		Engine:      p.engine(),
		Koldun:      p.Image,
		Threads:     p.threads(),
		Turbo:       p.turbo(),
		GPU:         s.Engine.GPUIndex,
		Extra:       s.Engine.ExtraArgs,
		PullPolicy:  s.ImagePullPolicy,
		Scheduling:  s.Scheduling,
		Group:       workload.Owner("dllama", p.d.Name),
		Annotations: map[string]string{v1.AnnotationMemoryPlan: p.memoryPlan()},
	}
	if session := p.d.Labels[v1.LabelSession]; session != "" {
		out.Marks = map[string]string{v1.LabelSession: session}
	}
	return out
}

func (p *plan) rootPod() workload.Pod {
	s := p.d.Spec.Runtime
	r := engine.Root{
		Settings:      p.settings(),
		Image:         first(s.RootImage, s.WorkerImage, p.Image),
		ModelFile:     p.artifact.ModelFile,
		TokenizerFile: p.artifact.TokenizerFile,
		Buffers:       string(p.buffers),
		SeqLen:        p.seqLen(),
		Session:       p.session(),
		Model:         p.d.Namespace + "/" + p.modelName,
		BusSecret:     p.busSecret(),
	}
	r.Labels = workload.Labels("root", "dllama", p.d.Name)
	r.Resources = p.resources(s.RootResources, p.status.RootMemoryBytes)
	if p.delivery == deliveryFetch {
		r.Fetch, r.FetchSecret = p.artifact.URL, p.storeSecret()
	} else {
		r.Claim = p.artifact.ClaimName
	}
	if n := p.status.Nodes - 1; n > 0 {
		r.Workers = engine.Addresses(p.d.Namespace, p.workersName(), n, engine.EngineNumber)
		r.Await = engine.Addresses(p.d.Namespace, p.workersName(), n, engine.HealthNumber)
	}
	return r.Pod()
}

func (p *plan) workerPod() workload.Pod {
	s := p.d.Spec.Runtime
	w := engine.Worker{Settings: p.settings(), Image: first(s.WorkerImage, s.RootImage, p.Image)}
	w.Labels = workload.Labels("worker", "dllama", p.d.Name)
	w.Resources = p.resources(s.WorkerResources, p.status.WorkerMemoryBytes)
	return w.Pod()
}

// session is the pool that the root belongs to: the one that its Session
// names, else the one that all requests for the model share. A root with a Model
// of another namespace has a pool in its own: it must not be given what the
// people of that namespace ask.
func (p *plan) session() string {
	shared := names.Session(p.d.Namespace, p.modelName, "")
	if key := p.d.Annotations[v1.AnnotationSessionKey]; names.SessionOf(key, shared) {
		return key
	}
	return shared
}

func first(s ...string) string {
	for _, v := range s {
		if v != "" {
			return v
		}
	}
	return ""
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
