package nodes

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

var _ external.Viewer[Spec] = (*Client)(nil)

// View is the rule itself: that nodes differ from it is no other rule. Of one of
// which only the name is known it reads the labels that nodes have of it; what
// it matches does not stand on them.
func (c *Client) View(ctx context.Context, s Spec, _ external.Scope) (Spec, error) {
	if len(s.Labels) > 0 {
		return s, nil
	}
	list, err := c.nodes.List(ctx, metav1.ListOptions{})
	if err != nil {
		return Spec{}, s.failed("view", kinded(err))
	}
	s.Labels = map[string]string{}
	for i := range list.Items {
		node := &list.Items[i]
		for key, of := range labelOwners(node) {
			if slices.ContainsFunc(of, func(o owner) bool { return o.base == s.base() }) {
				s.Labels[key] = node.Labels[key]
			}
		}
	}
	if len(s.Labels) == 0 {
		return Spec{}, s.failed("view", fault.Errorf(fault.NotFound, "no node has labels of it"))
	}
	return s, nil
}
