package nodes

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxConflicts bounds the nodes that are listed as conflicts.
const maxConflicts = 32

// A change is what one node is to get from a rule: all labels that it has from
// it then.
type change struct {
	node   *corev1.Node
	labels map[string]string
}

// A plan is what follows from a rule for the nodes.
type plan struct {
	changes []change
	owned   int // nodes with labels of the rule
	status  Status
}

func (s Spec) plan(nodes []corev1.Node) plan {
	var p plan
	for i := range nodes {
		p.add(s, &nodes[i])
	}
	slices.Sort(p.status.Conflicts)
	p.status.Conflicts = p.status.Conflicts[:min(len(p.status.Conflicts), maxConflicts)]
	return p
}

func (p *plan) add(s Spec, node *corev1.Node) {
	owned := ownedLabels(node, s.manager())
	if len(owned) > 0 {
		p.owned++
	}
	// What the rule gave must not keep it matching.
	others := maps.Clone(node.Labels)
	maps.DeleteFunc(others, func(key, _ string) bool { return owned[key] })
	want := map[string]string{}
	if !s.Ending && s.matches(others) {
		p.status.Matched++
		for key, value := range s.Labels {
			if have, ok := others[key]; ok && have != value {
				continue // a label of another owner
			}
			want[key] = value
		}
		if len(want) < len(s.Labels) {
			p.status.Conflicts = append(p.status.Conflicts, node.Name)
		}
	}
	if !same(node, owned, want) {
		p.changes = append(p.changes, change{node, want})
		return
	}
	if len(want) > 0 && len(want) == len(s.Labels) {
		p.status.Labelled++
	}
}

// same reports whether a node has from the rule just what it should.
func same(node *corev1.Node, owned map[string]bool, want map[string]string) bool {
	if len(owned) != len(want) {
		return false
	}
	for key, value := range want {
		if !owned[key] || node.Labels[key] != value {
			return false
		}
	}
	return true
}

// ownedLabels are the labels of a node that a field manager has applied.
func ownedLabels(node *corev1.Node, manager string) map[string]bool {
	owned := map[string]bool{}
	for _, entry := range node.ManagedFields {
		if entry.Manager != manager || entry.Operation != metav1.ManagedFieldsOperationApply || entry.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Metadata struct {
				Labels map[string]json.RawMessage `json:"f:labels"`
			} `json:"f:metadata"`
		}
		if json.Unmarshal(entry.FieldsV1.Raw, &fields) != nil {
			continue
		}
		for key := range fields.Metadata.Labels {
			if name, ok := strings.CutPrefix(key, "f:"); ok {
				owned[name] = true
			}
		}
	}
	return owned
}
