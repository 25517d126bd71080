// Package nodes labels the nodes of a Kubernetes cluster by rules.
//
// Labels are applied by server-side apply, each rule under a name of its own, so
// that the API server knows the owner of each label: a rule can remove its own
// labels, and never touches others.
package nodes

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/internal/fault"
)

// A Spec describes a rule: nodes that fulfil all criteria get the labels.
type Spec struct {
	MatchExpressions []Expression                 `json:"matchExpressions,omitempty"`
	MatchLabels      map[string]string            `json:"matchLabels,omitempty"`
	Capacity         map[string]resource.Quantity `json:"capacity,omitempty"` // the least
	NodeInfo         map[string]string            `json:"nodeInfo,omitempty"` // patterns by the names of fields
	Labels           map[string]string            `json:"labels"`
	// Priority among rules that give one label different values: the greatest wins.
	Priority int32 `json:"priority,omitempty"`

	Owner string `json:"-"` // unique name of the resource
	// Ending says that the rule exists only as long as a node has labels of it: it is
	// deleted, or not created yet.
	Ending bool `json:"-"`
}

// A Status is what was found of the nodes.
type Status struct {
	Matched   int      `json:"matched,omitempty"`
	Labelled  int      `json:"labelled,omitempty"`  // with all labels of the rule
	Conflicts []string `json:"conflicts,omitempty"` // nodes that match, and have another value of another owner
}

// A Client labels the nodes of one cluster.
type Client struct {
	nodes typedcorev1.NodeInterface
	feed  *feed.Feed
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New returns a Client. It needs the right to get, list, watch and patch nodes.
func New(nodes typedcorev1.NodeInterface) *Client {
	c := &Client{nodes: nodes}
	c.feed = feed.New(c.follow)
	return c
}

// Observe compares the nodes with the rule.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	p, err := c.plan(ctx, s)
	if err != nil {
		return external.Observation[Status]{}, s.failed("observe", err)
	}
	return external.Observation[Status]{
		Exists: !s.Ending || p.owned > 0, UpToDate: len(p.changes) == 0, Ready: true, Status: p.status,
	}, nil
}

// Create labels the nodes.
func (c *Client) Create(ctx context.Context, s Spec) error { return c.Update(ctx, s) }

// Update labels the nodes that match, and removes labels from those that no longer
// match. It goes on with the other nodes after an error.
func (c *Client) Update(ctx context.Context, s Spec) error {
	p, err := c.plan(ctx, s)
	if err != nil {
		return s.failed("apply", err)
	}
	var errs []error
	for _, change := range p.changes {
		errs = append(errs, c.apply(ctx, s, change))
	}
	return s.failed("apply", errors.Join(errs...))
}

// Delete removes all labels of the rule.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	s.Ending = true
	return c.Update(ctx, s)
}

func (c *Client) plan(ctx context.Context, s Spec) (plan, error) {
	if err := s.check(); err != nil && !s.Ending {
		return plan{}, err
	}
	list, err := c.nodes.List(ctx, metav1.ListOptions{})
	if err != nil {
		return plan{}, kinded(err)
	}
	return s.plan(list.Items), nil
}

// apply labels a node. Its UID keeps the call from creating a node that was deleted
// meanwhile. Force holds only for the node as it was seen.
func (c *Client) apply(ctx context.Context, s Spec, change change) error {
	node := applycorev1.Node(change.node.Name).WithUID(change.node.UID).WithLabels(change.labels)
	if change.force {
		node.WithResourceVersion(change.node.ResourceVersion)
	}
	err := c.patch(ctx, node, metav1.ApplyOptions{FieldManager: s.manager(), Force: change.force})
	for _, manager := range change.former {
		if err == nil {
			empty := applycorev1.Node(change.node.Name).WithUID(change.node.UID)
			err = c.patch(ctx, empty, metav1.ApplyOptions{FieldManager: manager})
		}
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) && c.gone(ctx, change.node) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("node %q: %w", change.node.Name, kinded(err))
	}
	return nil
}

func (c *Client) patch(ctx context.Context, node *applycorev1.NodeApplyConfiguration, o metav1.ApplyOptions) error {
	_, err := c.nodes.Apply(ctx, node, o)
	return err
}

// gone reports whether a node no longer exists.
func (c *Client) gone(ctx context.Context, node *corev1.Node) bool {
	now, err := c.nodes.Get(ctx, node.Name, metav1.GetOptions{})
	return apierrors.IsNotFound(err) || err == nil && now.UID != node.UID
}

func (s Spec) failed(verb string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot %s rule %q for nodes: %w", verb, s.Owner, err)
}

func kinded(err error) error {
	switch {
	case fault.KindOf(err) == fault.Interrupted:
		return err
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return fault.As(fault.Denied, err)
	case apierrors.IsConflict(err):
		return fault.As(fault.Conflict, err)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return fault.As(fault.Invalid, err)
	}
	return fault.As(fault.Transient, err)
}
