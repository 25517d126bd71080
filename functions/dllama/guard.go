package dllama

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/names"
)

// guard closes the ports of an engine to all but its peers. Those of one that ends if
// others connect are closed in any case.
func (s podSet) guard(root, worker workload.Pod) error {
	if !s.plan.engine.Guarded && !workload.Guarded(s.Spec.NetworkPolicy) {
		return nil
	}
	ns := s.Namespace
	group := workload.Door{Port: engine.EngineNumber, Peers: []networkingv1.NetworkPolicyPeer{workload.Pods(root.Labels)}}
	if s.plan.workers() > 0 {
		group.Peers = append(group.Peers, workload.Pods(worker.Labels))
	}
	var health, peers []workload.Door
	if _, serves := root.Ports[engine.PortHealth]; serves {
		health = []workload.Door{{Port: engine.HealthNumber}}
	}
	out, in := s.egress(), connection.Egress{Policy: resWorkerGuard}
	switch {
	case s.plan.workers() == 0:
	case s.plan.engine.Grouped:
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
	rootWays, workerWays := out.Ways(s.Call), in.Ways(s.Call)
	if !workload.Guarded(s.Spec.NetworkPolicy) {
		rootWays, workerWays = workload.Anywhere(), workload.Anywhere()
	}
	doors := slices.Concat([]workload.Door{{Port: engine.SidecarNumber}}, health, peers)
	if err := s.Desire(resRootGuard, workload.Guard(ns, s.rootName(), root.Labels, doors, rootWays), compose.Ready); err != nil || s.plan.workers() == 0 {
		return err
	}
	doors = append([]workload.Door{group}, health...)
	return s.Desire(resWorkerGuard, workload.Guard(ns, s.workersName(), worker.Labels, doors, workerWays), compose.Ready)
}

// protect keeps a drain from evicting several nodes of a group at once, from
// when the group is complete until it becomes another one. Before that there is
// nothing to protect, and a budget whose status follows each pod of a rollout
// would be one more event for each.
func (s podSet) protect(root workload.Pod, complete bool) error {
	group := root.Annotations[v1.AnnotationGroup]
	var seen policyv1.PodDisruptionBudget
	kept := s.Observed(resBudget, &seen) && seen.Annotations[v1.AnnotationGroup] == group
	if !complete && !kept {
		return nil
	}
	budget := workload.Budget(s.Namespace, names.Object(s.Name, "group"), workload.Owner("dllama", s.Name))
	budget.Annotations = map[string]string{v1.AnnotationGroup: group}
	return s.Desire(resBudget, budget, compose.Ready)
}

// egress says what the root connects to, beside its workers: NATS, which is the first of
// the systems, the object store of its files, and what the claim names.
func (s podSet) egress() connection.Egress {
	out := connection.Egress{
		Policy: resRootGuard, Scheduling: s.Spec.Scheduling,
		Systems: [][]int32{s.natsPorts()},
		Ports:   slices.Concat(workload.EnvOf(s.Spec.Env, s.Spec.EnvFrom).Ports(), s.up.additions().ports),
	}
	if s.delivery.fetches {
		out.Systems = append(out.Systems, s.delivery.ports(s.Call))
	}
	return out
}
