package dllama

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/names"
)

// serve composes the pods. Root and workers start together: the root's
// supervisor waits until all workers listen.
func (p *dllamaPlan) serve() (compose.Next, error) {
	root := p.rootPod()
	var worker workload.Pod
	workers, readyWorkers := p.workerCount(), int32(0)
	if workers > 0 {
		worker = p.workerPod()
		if err := bind(&root, &worker); err != nil {
			return compose.Stop, err
		}
		var err error
		if readyWorkers, err = p.serveWorkers(worker); err != nil {
			return compose.Stop, err
		}
	}
	ready, err := p.serveRoot(root)
	if err != nil {
		return compose.Stop, err
	}
	if err := p.guard(root, worker); err != nil {
		return compose.Stop, err
	}
	if workers > 0 {
		if err := p.protect(root, p.WillBeReady(resRoot) && p.WillBeReady(resWorkers)); err != nil {
			return compose.Stop, err
		}
	}
	if !ready {
		p.starts = p.pods.Of(p.rootName() + "-0")
		p.status.Progress, p.status.ETA = p.starts.String(), p.starts.ETA()
	}
	p.report(ready, readyWorkers)
	return compose.Continue, nil
}

// starting says what a root that is not ready does.
func (p *dllamaPlan) starting() string {
	switch {
	case p.asks():
		return fmt.Sprintf("the gateway of Ingress %q in namespace %q does not answer, or does not know the token yet", p.Spec.IngressRef.Name, p.model().Namespace)
	case p.engine.External():
		return fmt.Sprintf("the server at %q has not generated a token yet; see kubectl logs -n %s %s-0", p.engine.API.URL, p.Namespace, p.rootName())
	}
	return "the root " + p.starts.Start(cmp.Or(p.artifact.ModelFile, p.status.Model))
}

// report sets the status and the condition by what is ready.
func (p *dllamaPlan) report(ready bool, readyWorkers int32) {
	workers := p.workerCount()
	p.status.ReadyRoot, p.status.ReadyWorkers = ready, quarters(readyWorkers, workers)
	p.status.URL = p.ingress.Status.URL
	switch {
	case (!ready || readyWorkers < workers) && p.pods.Reason != "":
		p.Fail(p.pods.Reason, "%s", p.pods.Message)
	case readyWorkers < workers:
		p.Fail(reason.WorkersStarting, "StatefulSet %q is not ready: not all of its %d workers listen", p.workersName(), workers)
	case !ready:
		p.Fail(reason.RootStarting, "StatefulSet %q is not ready: %s", p.rootName(), p.starting())
	case p.Spec.Expose != nil && !p.ingress.serves():
		p.failIngress()
	default:
		p.Serve(reason.Available, "%s is served on %s%s", p.status.Model, plural(int(p.status.Nodes), "node"), p.unchanged())
	}
}

// quarters rounds a part down to quarters of the whole, so that the status
// changes rarely while many workers start.
func quarters(part, whole int32) int32 {
	if part >= whole {
		return whole
	}
	step := (whole + 3) / 4
	return part / step * step
}

// bind annotates root and workers with a hash of both, so that a change to one
// restarts all: they must be of the same build.
func bind(root, worker *workload.Pod) error {
	raw, err := json.Marshal([]any{root.Template(), worker.Template()})
	if err != nil {
		return err
	}
	hash := names.Hash(16, string(raw))
	root.Annotations[v1.AnnotationGroup], worker.Annotations[v1.AnnotationGroup] = hash, hash
	return nil
}

// serveRoot composes the root and the Service that leads to its sidecar.
func (p *dllamaPlan) serveRoot(pod workload.Pod) (ready bool, err error) {
	name := p.rootName()
	service := workload.Headless(p.Namespace, name, pod.Labels, map[string]int32{engine.PortSidecar: engine.SidecarNumber})
	if err := p.Desire(resService, service, compose.Ready); err != nil {
		return false, err
	}
	err = p.Desire(resRoot, workload.StatefulSet(p.Namespace, name, 1, pod), p.ReadyReplicas(resRoot) > 0)
	// A pod of an earlier template serves no longer in a moment.
	return p.WillBeReady(resRoot), err
}

// serveWorkers composes the workers. Their Service gives them names and carries
// no traffic.
func (p *dllamaPlan) serveWorkers(pod workload.Pod) (ready int32, err error) {
	name, n := p.workersName(), p.workerCount()
	port := engine.PortHealth
	if p.engine.Process == nil {
		port = engine.PortEngine
	}
	service := workload.Headless(p.Namespace, name, pod.Labels, map[string]int32{port: pod.Ports[port]})
	if err := p.Desire(resWorkerService, service, compose.Ready); err != nil {
		return 0, err
	}
	ready = min(p.ReadyReplicas(resWorkers), n)
	set := workload.StatefulSet(p.Namespace, name, n, pod)
	if p.engine.Grouped { // the root has number 0
		set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 1}
	}
	err = p.Desire(resWorkers, set, compose.Readiness(ready == n))
	if ready == n && !p.WillBeReady(resWorkers) {
		ready = 0
	}
	return ready, err
}

// guard closes the ports of an engine to all but its peers. Those of one that ends if
// others connect are closed in any case.
func (p *dllamaPlan) guard(root, worker workload.Pod) error {
	if !p.engine.Guarded && !workload.Guarded(p.Spec.NetworkPolicy) {
		return nil
	}
	ns := p.Namespace
	group := workload.Door{Port: engine.EngineNumber, Peers: []networkingv1.NetworkPolicyPeer{workload.Pods(root.Labels)}}
	if p.workerCount() > 0 {
		group.Peers = append(group.Peers, workload.Pods(worker.Labels))
	}
	var health, peers []workload.Door
	if _, serves := root.Ports[engine.PortHealth]; serves {
		health = []workload.Door{{Port: engine.HealthNumber}}
	}
	out, in := p.egress(), connection.Egress{Policy: resWorkerGuard}
	switch {
	case p.workerCount() == 0:
	case p.engine.Grouped:
		group.Port = 0
		peers = []workload.Door{group} // the root is a peer too
		out.Peers = []workload.Way{workload.To(group.Peers)}
		in = out // each node reads its part
		in.Policy, in.Systems = resWorkerGuard, out.Systems[1:]
	default:
		// Workers connect to each other by the names that the root gives them.
		others := []networkingv1.NetworkPolicyPeer{workload.Pods(worker.Labels)}
		out.Peers = []workload.Way{workload.To(others, engine.EngineNumber, engine.HealthNumber)}
		in.Peers = []workload.Way{workload.To(others, engine.EngineNumber)}
	}
	rootWays, workerWays := out.Ways(p.Call), in.Ways(p.Call)
	if !workload.Guarded(p.Spec.NetworkPolicy) {
		rootWays, workerWays = workload.Anywhere(), workload.Anywhere()
	}
	doors := slices.Concat([]workload.Door{{Port: engine.SidecarNumber}}, health, peers)
	if err := p.Desire(resRootGuard, workload.Guard(ns, p.rootName(), root.Labels, doors, rootWays), compose.Ready); err != nil || p.workerCount() == 0 {
		return err
	}
	doors = append([]workload.Door{group}, health...)
	return p.Desire(resWorkerGuard, workload.Guard(ns, p.workersName(), worker.Labels, doors, workerWays), compose.Ready)
}

// protect keeps a drain from evicting several nodes of a group at once, from
// when the group is complete until it becomes another one. Before that there is
// nothing to protect, and a budget whose status follows each pod of a rollout
// would be one more event for each.
func (p *dllamaPlan) protect(root workload.Pod, complete bool) error {
	group := root.Annotations[v1.AnnotationGroup]
	var seen policyv1.PodDisruptionBudget
	kept := p.Observed(resBudget, &seen) && seen.Annotations[v1.AnnotationGroup] == group
	if !complete && !kept {
		return nil
	}
	budget := workload.Budget(p.Namespace, names.Object(p.Name, "group"), workload.Owner("dllama", p.Name))
	budget.Annotations = map[string]string{v1.AnnotationGroup: group}
	return p.Desire(resBudget, budget, compose.Ready)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
