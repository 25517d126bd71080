package compose

import (
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// Require asks Crossplane for an object that is not composed here, by name, and
// decodes it if it is known already. known is false until Crossplane has looked.
func (c *Call) Require(key, apiVersion, kind, namespace, name string, into any) (found, known bool) {
	c.require(key, &fnv1.ResourceSelector{
		ApiVersion: apiVersion,
		Kind:       kind,
		Match:      &fnv1.ResourceSelector_MatchName{MatchName: name},
		Namespace:  &namespace,
	})
	items, known := c.req.GetRequiredResources()[key]
	if !known || len(items.GetItems()) == 0 {
		return false, known
	}
	return decode(items.GetItems()[0].GetResource(), into) == nil, true
}

// RequireAll asks Crossplane for all objects of a kind with the labels in a
// namespace; no labels means all. Each is decoded into what next returns. known
// is false until Crossplane has looked.
func (c *Call) RequireAll(key, apiVersion, kind, namespace string, labels map[string]string, next func() any) (known bool) {
	c.require(key, &fnv1.ResourceSelector{
		ApiVersion: apiVersion,
		Kind:       kind,
		Match:      &fnv1.ResourceSelector_MatchLabels{MatchLabels: &fnv1.MatchLabels{Labels: labels}},
		Namespace:  &namespace,
	})
	items, known := c.req.GetRequiredResources()[key]
	for _, item := range items.GetItems() {
		// An object that cannot be decoded stays empty.
		_ = decode(item.GetResource(), next())
	}
	return known
}

func (c *Call) require(key string, s *fnv1.ResourceSelector) {
	c.requirements().Resources[key] = s
	if _, answered := c.req.GetRequiredResources()[key]; !answered {
		c.unanswered = true
	}
}

func (c *Call) requirements() *fnv1.Requirements {
	if c.rsp.GetRequirements() == nil {
		c.rsp.Requirements = &fnv1.Requirements{Resources: map[string]*fnv1.ResourceSelector{}}
	}
	return c.rsp.GetRequirements()
}
