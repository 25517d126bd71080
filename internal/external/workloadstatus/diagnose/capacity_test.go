package diagnose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/internal/external/workloadstatus/diagnose"
)

// list reads "memory 16Gi, cpu 4".
func list(text string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for each := range strings.SplitSeq(text, ", ") {
		if name, quantity, ok := strings.Cut(each, " "); ok {
			out[corev1.ResourceName(name)] = resource.MustParse(quantity)
		}
	}
	return out
}

func node(name, allocatable string, changes ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: list(allocatable)}}
	for _, change := range changes {
		change(n)
	}
	return n
}

func gpu(n *corev1.Node) { n.Labels = map[string]string{"gpu": "a100"} }

func tainted(key string, effect corev1.TaintEffect) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: key, Value: "v", Effect: effect}} }
}

func planned(component string, count int32, requests string, changes ...func(*diagnose.Planned)) diagnose.Planned {
	p := diagnose.Planned{Component: component, Count: count, Requests: list(requests)}
	for _, change := range changes {
		change(&p)
	}
	return p
}

func onGPU(p *diagnose.Planned) { p.NodeSelector = map[string]string{"gpu": "a100"} }

// TestCapacity has pods that do not exist yet, and nodes that have no room for them.
func TestCapacity(t *testing.T) {
	small, large := node("small", "memory 4Gi, cpu 8"), node("large", "memory 16Gi, cpu 2")
	root := planned("root", 1, "memory 12Gi")
	workers := planned("worker", 3, "memory 3Gi")
	tolerant := func(p *diagnose.Planned) {
		p.Tolerations = []corev1.Toleration{{Key: "own", Operator: corev1.TolerationOpExists}}
	}
	for name, c := range map[string]struct {
		planned diagnose.Planned
		nodes   []*corev1.Node
		used    map[string]corev1.ResourceList
		pods    []*corev1.Pod
		says    string // empty: nothing
	}{
		"Fits":          {planned: root, nodes: []*corev1.Node{small, large}},
		"NoNodes":       {planned: root},
		"NothingWanted": {planned: planned("root", 1, ""), nodes: []*corev1.Node{node("n", "")}},
		"TooSmall": {planned: root, nodes: []*corev1.Node{small},
			says: "No node can run the root: no node has 12.0 GiB of memory (the most is 4.0 GiB of memory) allocatable; add a node with more, spread the model over more nodes, or lower the requests in spec.rootResources"},
		"Exists": {planned: root, nodes: []*corev1.Node{small}, pods: []*corev1.Pod{pod()}},
		"OfAnother": {planned: workers, nodes: []*corev1.Node{small}, pods: []*corev1.Pod{pod()},
			says: "The nodes cannot run all 3 workers at the same time: they do not have 3.0 GiB of memory allocatable for each; add a node with more, spread the model over more nodes, or lower the requests in spec.workerResources"},
		"NoGPU":        {planned: planned("root", 1, "nvidia.com/gpu 2"), nodes: []*corev1.Node{large}, says: "no node has 2 of nvidia.com/gpu (the most is 0 of nvidia.com/gpu) allocatable"},
		"NotTogether":  {planned: planned("worker", 2, "memory 8Gi, cpu 4"), nodes: []*corev1.Node{small, large}, says: "No node can run a worker: no node has 4 of cpu and 8.0 GiB of memory allocatable"},
		"AllWorkers":   {planned: workers, nodes: []*corev1.Node{large}},
		"PartOfCPU":    {planned: planned("worker", 3, "cpu 900m"), nodes: []*corev1.Node{large}, says: "they do not have 900m of cpu allocatable for each"},
		"NoLabel":      {planned: planned("root", 1, "memory 1Gi", onGPU), nodes: []*corev1.Node{small}, says: "no node has the labels gpu=a100; correct spec.scheduling.nodeSelector, or label a node"},
		"Label":        {planned: planned("root", 1, "memory 1Gi", onGPU), nodes: []*corev1.Node{small, node("n", "memory 1Gi", gpu)}},
		"LabelOfSmall": {planned: planned("root", 1, "memory 2Gi", onGPU), nodes: []*corev1.Node{small, node("n", "memory 1Gi", gpu)}, says: "no node has 2.0 GiB of memory (the most is 1.0 GiB of memory)"},
		"Tainted":      {planned: root, nodes: []*corev1.Node{node("n", "memory 16Gi", tainted("own", corev1.TaintEffectNoSchedule))}, says: "has a taint that it does not tolerate; add spec.scheduling.tolerations"},
		"Tolerated":    {planned: planned("root", 1, "memory 12Gi", tolerant), nodes: []*corev1.Node{node("n", "memory 16Gi", tainted("own", corev1.TaintEffectNoSchedule))}},
		"NotPreferred": {planned: root, nodes: []*corev1.Node{node("n", "memory 16Gi", tainted("own", corev1.TaintEffectPreferNoSchedule))}},
		"NotReady":     {planned: root, nodes: []*corev1.Node{node("n", "memory 16Gi", tainted("node.kubernetes.io/not-ready", corev1.TaintEffectNoExecute))}},
		"Crowded": {planned: root, nodes: []*corev1.Node{small, large}, used: map[string]corev1.ResourceList{"large": list("memory 5Gi")},
			says: "No node can run the root at present: other pods leave no node with 12.0 GiB of memory; add a node with more"},
		"CrowdedWorkers": {planned: workers, nodes: []*corev1.Node{large}, used: map[string]corev1.ResourceList{"large": list("memory 8Gi")},
			says: "The nodes cannot run all 3 workers at present: other pods do not leave 3.0 GiB of memory for each"},
		"Room":           {planned: root, nodes: []*corev1.Node{large}, used: map[string]corev1.ResourceList{"large": list("memory 4Gi, cpu 2")}},
		"MoreThanItHas":  {planned: planned("root", 1, "cpu 1"), nodes: []*corev1.Node{large}, used: map[string]corev1.ResourceList{"large": list("cpu 3")}, says: "other pods leave no node with 1 of cpu"},
		"UsedIsNotKnown": {planned: root, nodes: []*corev1.Node{large}},
	} {
		t.Run(name, func(t *testing.T) {
			s := diagnose.Scene{Labels: map[string]string{"koldun.gorizond.io/dllama": "tiny"}, Planned: []diagnose.Planned{c.planned}, Nodes: c.nodes, Used: c.used, Pods: c.pods}
			got := diagnose.Diagnose(s)
			if !strings.Contains(got.Message, c.says) || (got.Message == "") != (c.says == "") {
				t.Errorf("got %q, want %q", got.Message, c.says)
			}
			if c.says != "" && got.Reason != diagnose.Unschedulable {
				t.Errorf("the reason is %q", got.Reason)
			}
		})
	}
}

// The pods of a node are counted if it may run a planned pod, unless such nodes are many.
func TestCandidates(t *testing.T) {
	nodes := []*corev1.Node{node("b", "memory 2Gi"), node("a", "memory 2Gi"), node("small", "memory 1Gi"), node("tainted", "memory 2Gi", tainted("own", corev1.TaintEffectNoSchedule))}
	s := diagnose.Scene{Planned: []diagnose.Planned{planned("root", 1, "memory 2Gi")}, Nodes: nodes}
	if got := s.Candidates(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the candidates are %q", got)
	}
	for i := range 20 {
		s.Nodes = append(s.Nodes, node(fmt.Sprint("n", i), "memory 2Gi"))
	}
	if got := s.Candidates(); got != nil {
		t.Errorf("of many nodes, the candidates are %q", got)
	}
	s.Nodes, s.Pods = nodes, []*corev1.Pod{pod()}
	if got := s.Candidates(); len(got) != 0 {
		t.Errorf("for a pod that exists, the candidates are %q", got)
	}
}
