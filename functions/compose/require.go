package compose

import (
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/request"
)

// requirements are what Crossplane is asked for that is not composed here.
type requirements struct {
	req      *fnv1.RunFunctionRequest
	response *fnv1.RunFunctionResponse
	// unanswered: Crossplane has not looked yet for something that was required.
	unanswered bool
}

// Require asks Crossplane for an object that is not composed here, by name, and
// decodes it if it is known already. known is false until Crossplane has looked.
func (r *requirements) Require(key, apiVersion, kind, namespace, name string, into any) (found, known bool) {
	r.require(key, &fnv1.ResourceSelector{
		ApiVersion: apiVersion,
		Kind:       kind,
		Match:      &fnv1.ResourceSelector_MatchName{MatchName: name},
		Namespace:  &namespace,
	})
	items, known := r.req.GetRequiredResources()[key]
	if !known || len(items.GetItems()) == 0 {
		return false, known
	}
	return decode(items.GetItems()[0].GetResource(), into) == nil, true
}

// Known reports whether Crossplane has found an object that was required, also one that
// cannot be decoded.
func (r *requirements) Known(key string) bool {
	return len(r.req.GetRequiredResources()[key].GetItems()) > 0
}

// RequireAll asks Crossplane for all objects of a kind with the labels in a
// namespace; no labels means all. Each is decoded into what next returns. known
// is false until Crossplane has looked.
func (r *requirements) RequireAll(key, apiVersion, kind, namespace string, labels map[string]string, next func() any) (known bool) {
	r.require(key, &fnv1.ResourceSelector{
		ApiVersion: apiVersion,
		Kind:       kind,
		Match:      &fnv1.ResourceSelector_MatchLabels{MatchLabels: &fnv1.MatchLabels{Labels: labels}},
		Namespace:  &namespace,
	})
	items, known := r.req.GetRequiredResources()[key]
	for _, item := range items.GetItems() {
		// An object that cannot be decoded stays empty.
		_ = decode(item.GetResource(), next())
	}
	return known
}

func (r *requirements) require(key string, s *fnv1.ResourceSelector) {
	r.all().Resources[key] = s
	if _, answered := r.req.GetRequiredResources()[key]; !answered {
		r.unanswered = true
	}
}

// lacksKind reports whether the API server serves no such kind. It is false if Crossplane
// has not looked, or cannot say.
func (r *requirements) lacksKind(key, apiVersion, kind string) bool {
	if !request.HasCapability(r.req, fnv1.Capability_CAPABILITY_REQUIRED_SCHEMAS) {
		return false
	}
	all := r.all()
	if all.Schemas == nil {
		all.Schemas = map[string]*fnv1.SchemaSelector{}
	}
	all.Schemas[key] = &fnv1.SchemaSelector{ApiVersion: apiVersion, Kind: kind}
	schema, known := r.req.GetRequiredSchemas()[key]
	return known && schema.GetOpenapiV3() == nil
}

func (r *requirements) all() *fnv1.Requirements {
	if r.response.GetRequirements() == nil {
		r.response.Requirements = &fnv1.Requirements{Resources: map[string]*fnv1.ResourceSelector{}}
	}
	return r.response.GetRequirements()
}
