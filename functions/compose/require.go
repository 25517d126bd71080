package compose

import (
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/request"
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

// Known reports whether Crossplane has found an object that was required, also one that
// cannot be decoded.
func (c *Call) Known(key string) bool { return len(c.req.GetRequiredResources()[key].GetItems()) > 0 }

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

// lacksKind reports whether the API server serves no such kind. It is false if Crossplane
// has not looked, or cannot say.
func (c *Call) lacksKind(key, apiVersion, kind string) bool {
	if !request.HasCapability(c.req, fnv1.Capability_CAPABILITY_REQUIRED_SCHEMAS) {
		return false
	}
	r := c.requirements()
	if r.Schemas == nil {
		r.Schemas = map[string]*fnv1.SchemaSelector{}
	}
	r.Schemas[key] = &fnv1.SchemaSelector{ApiVersion: apiVersion, Kind: kind}
	schema, known := c.req.GetRequiredSchemas()[key]
	return known && schema.GetOpenapiV3() == nil
}

func (c *Call) requirements() *fnv1.Requirements {
	if c.rsp.GetRequirements() == nil {
		c.rsp.Requirements = &fnv1.Requirements{Resources: map[string]*fnv1.ResourceSelector{}}
	}
	return c.rsp.GetRequirements()
}
