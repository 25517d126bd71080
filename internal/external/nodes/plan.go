package nodes

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// maxConflicts bounds the nodes that are listed as conflicts.
const maxConflicts = 32

// A change is what one node is to get from a rule: all labels that it has from
// it then.
type change struct {
	node   *corev1.Node
	labels map[string]string
	force  bool     // it changes labels of rules with a lower priority, or of former managers
	former []string // field managers that the rule had with another priority
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
	owners := labelOwners(node)
	owned, former := s.owned(owners)
	if len(owned)+len(former) > 0 {
		p.owned++
	}
	// What only the rule gave must not keep it matching.
	others := maps.Clone(node.Labels)
	for key, of := range owners {
		if len(s.foreign(of)) == 0 {
			delete(others, key)
		}
	}
	c := change{node: node, labels: map[string]string{}, former: former}
	if !s.Ending && s.matches(node, others) {
		p.status.Matched++
		for key, value := range s.Labels {
			if have, ok := node.Labels[key]; ok && have != value {
				may, force := s.mayChange(owners[key])
				if !may {
					continue
				}
				c.force = c.force || force
			}
			c.labels[key] = value
		}
		if len(c.labels) < len(s.Labels) {
			p.status.Conflicts = append(p.status.Conflicts, node.Name)
		}
	}
	if len(former) > 0 || !same(node, owned, c.labels) {
		p.changes = append(p.changes, c)
		return
	}
	if len(c.labels) > 0 && len(c.labels) == len(s.Labels) {
		p.status.Labelled++
	}
}

// owned returns the labels that the rule's field manager owns, and the managers
// that it had before and that own some.
func (s Spec) owned(owners map[string][]owner) (labels map[string]bool, former []string) {
	labels = map[string]bool{}
	for key, of := range owners {
		for _, o := range of {
			switch {
			case o.base != s.base():
			case o.manager == s.manager():
				labels[key] = true
			case !slices.Contains(former, o.manager):
				former = append(former, o.manager)
			}
		}
	}
	slices.Sort(former)
	return labels, former
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
