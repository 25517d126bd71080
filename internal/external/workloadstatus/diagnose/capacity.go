package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/gorizond/koldun/internal/bytesize"
)

// Planned are the pods of one component of a claim, before they exist.
type Planned struct {
	// Component is the value of the label of that name.
	Component string `json:"component"`
	Count     int32  `json:"count"`
	// Requests of each pod.
	Requests     corev1.ResourceList `json:"requests,omitempty"`
	NodeSelector map[string]string   `json:"nodeSelector,omitempty"`
	Tolerations  []corev1.Toleration `json:"tolerations,omitempty"`
}

// maxCandidates bounds the nodes whose pods are counted: among more, one probably has room.
const maxCandidates = 16

// capacity returns which planned pods the nodes cannot hold. Nothing is known of a
// cluster without nodes, which may get some when there are pods. Once a pod exists, the
// scheduler knows better.
func (s Scene) capacity() []finding {
	var out []finding
	for _, p := range s.absent() {
		if d := s.room(p); d.Reason != "" {
			out = append(out, finding{Diagnosis: d})
		}
	}
	return out
}

// Candidates returns the nodes of which it matters what their pods request; none if
// they are too many.
func (s Scene) Candidates() []string {
	names := map[string]bool{}
	for _, p := range s.absent() {
		for _, n := range p.open(p.labelled(s.Nodes)) {
			if p.slots(n.Status.Allocatable) > 0 {
				names[n.Name] = true
			}
		}
	}
	if len(names) > maxCandidates {
		return nil
	}
	return slices.Sorted(maps.Keys(names))
}

// absent returns the planned pods of which none exists.
func (s Scene) absent() []Planned {
	return slices.DeleteFunc(slices.Clone(s.Planned), func(p Planned) bool {
		return slices.ContainsFunc(s.Pods, func(pod *corev1.Pod) bool { return pod.Labels[labelComponent] == p.Component })
	})
}

// room says why the nodes cannot hold planned pods.
func (s Scene) room(p Planned) Diagnosis {
	if len(s.Nodes) == 0 {
		return Diagnosis{}
	}
	f := s.fieldsOf(p)
	resources := cmp.Or(f.resources, "its resources")
	labelled := p.labelled(s.Nodes)
	open := p.open(labelled)
	var why, mend string
	switch {
	case len(labelled) == 0:
		why = fmt.Sprintf("No node can run %s: no node has the labels %s", p.one(), labels.Set(p.NodeSelector))
		mend = fmt.Sprintf("correct %s, or label a node", f.placing("nodeSelector"))
	case len(open) == 0:
		why = fmt.Sprintf("No node can run %s: each node for it has a taint that it does not tolerate", p.one())
		mend = "add " + f.placing("tolerations")
	default:
		if why = p.scarce(open); why == "" {
			why = p.crowded(open, s.Used)
		}
		mend = fmt.Sprintf("add a node with more, spread the model over more nodes, or lower the requests in %s", resources)
	}
	if why == "" {
		return Diagnosis{}
	}
	return Diagnosis{Reason: Unschedulable, Message: why + "; " + mend}
}

// fieldsOf returns the fields of the claim that planned pods will be made from.
func (s Scene) fieldsOf(p Planned) fields {
	of := labels.Set{labelComponent: p.Component}
	maps.Copy(of, s.Labels)
	return fieldsOf(of, "")
}

// one names one of the pods.
func (p Planned) one() string {
	if p.Count == 1 {
		return "the " + p.Component
	}
	return "a " + p.Component
}

func (p Planned) labelled(nodes []*corev1.Node) (out []*corev1.Node) {
	for _, n := range nodes {
		if labels.SelectorFromSet(p.NodeSelector).Matches(labels.Set(n.Labels)) {
			out = append(out, n)
		}
	}
	return out
}

// open returns the nodes whose taints the pods tolerate.
func (p Planned) open(nodes []*corev1.Node) (out []*corev1.Node) {
	for _, n := range nodes {
		if !slices.ContainsFunc(n.Spec.Taints, p.repelled) {
			out = append(out, n)
		}
	}
	return out
}

// repelled reports whether a taint keeps the pods away. Those of Kubernetes' own say
// how the node is at present.
func (p Planned) repelled(taint corev1.Taint) bool {
	domain, _, _ := strings.Cut(taint.Key, "/")
	if taint.Effect == corev1.TaintEffectPreferNoSchedule || domain == "node.kubernetes.io" || domain == "node.cloudprovider.kubernetes.io" {
		return false
	}
	return !slices.ContainsFunc(p.Tolerations, func(t corev1.Toleration) bool { return t.ToleratesTaint(logr.Discard(), &taint, true) })
}

// slots counts the pods that fit into an amount of resources.
func (p Planned) slots(has corev1.ResourceList) int64 {
	slots := int64(p.Count)
	for name, request := range p.Requests {
		if n := number(name, request); n > 0 {
			slots = min(slots, max(number(name, has[name]), 0)/n)
		}
	}
	return slots
}

// scarce says what the nodes have too little of, even if no other pod ran on them.
func (p Planned) scarce(nodes []*corev1.Node) string {
	total, most := int64(0), corev1.ResourceList{}
	for _, n := range nodes {
		total += p.slots(n.Status.Allocatable)
		for name, has := range n.Status.Allocatable {
			if best := most[name]; has.Cmp(best) > 0 {
				most[name] = has
			}
		}
	}
	switch {
	case total >= int64(p.Count):
		return ""
	case total > 0:
		return fmt.Sprintf("The nodes cannot run all %d %ss at the same time: they do not have %s allocatable for each", p.Count, p.Component, p.requested())
	}
	var lacks []string
	for _, name := range slices.Sorted(maps.Keys(p.Requests)) {
		if request := p.Requests[name]; request.Cmp(most[name]) > 0 {
			lacks = append(lacks, fmt.Sprintf("%s (the most is %s)", amount(name, request), amount(name, most[name])))
		}
	}
	if len(lacks) == 0 { // each is on another node
		lacks = []string{p.requested()}
	}
	return fmt.Sprintf("No node can run %s: no node has %s allocatable", p.one(), strings.Join(lacks, " and "))
}

// crowded says that other pods take what the nodes have, if that is known.
func (p Planned) crowded(nodes []*corev1.Node, used map[string]corev1.ResourceList) string {
	if used == nil {
		return ""
	}
	var total int64
	for _, n := range nodes {
		free := corev1.ResourceList{}
		for name, has := range n.Status.Allocatable {
			has = has.DeepCopy()
			has.Sub(used[n.Name][name])
			free[name] = has
		}
		total += p.slots(free)
	}
	switch {
	case total >= int64(p.Count):
		return ""
	case total > 0:
		return fmt.Sprintf("The nodes cannot run all %d %ss at present: other pods do not leave %s for each", p.Count, p.Component, p.requested())
	}
	return fmt.Sprintf("No node can run %s at present: other pods leave no node with %s", p.one(), p.requested())
}

// requested lists the requests of a pod.
func (p Planned) requested() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.Requests)) {
		out = append(out, amount(name, p.Requests[name]))
	}
	return strings.Join(out, " and ")
}

func number(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// amount returns "1.5 GiB of memory" or "2 of cpu".
func amount(name corev1.ResourceName, q resource.Quantity) string {
	text := q.String()
	if name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage {
		text = bytesize.Format(q.Value())
	}
	return text + " of " + string(name)
}
