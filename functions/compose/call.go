// Package compose is what the composition of each kind is written with: the
// observed composite and its composed resources in, desired resources, status
// and conditions out.
//
// A Call is pure. It reads the request, touches nothing else, and the same
// request always gives the same bytes.
package compose

import (
	"encoding/json"
	"fmt"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/gorizond/koldun/functions/reason"
)

// A Config is what the Function was started with.
type Config struct {
	// Image of our own binary, for every pod that runs it.
	Image string
}

// A Call is one composition of one composite resource.
type Call struct {
	Config

	req *fnv1.RunFunctionRequest
	rsp *fnv1.RunFunctionResponse
}

// New begins a Call that answers req through rsp.
func New(cfg Config, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) *Call {
	if rsp.GetDesired() == nil {
		rsp.Desired = &fnv1.State{}
	}
	if rsp.GetDesired().GetResources() == nil {
		rsp.Desired.Resources = map[string]*fnv1.Resource{}
	}
	return &Call{Config: cfg, req: req, rsp: rsp}
}

// Composite decodes the observed composite.
func (c *Call) Composite(into any) error {
	if err := decode(c.req.GetObserved().GetComposite().GetResource(), into); err != nil {
		return fmt.Errorf("cannot decode composite resource: %w", err)
	}
	return nil
}

// Observed decodes the composed resource of that name. It is false if there is
// none yet, or none that can be decoded.
func (c *Call) Observed(name string, into any) bool {
	r, ok := c.req.GetObserved().GetResources()[name]
	return ok && r.GetResource() != nil && decode(r.GetResource(), into) == nil
}

// Exists reports whether the composed resource of that name exists.
func (c *Call) Exists(name string) bool {
	_, ok := c.req.GetObserved().GetResources()[name]
	return ok
}

// A Readiness says whether a desired resource is ready.
type Readiness bool

// Readiness of a desired resource.
const (
	Ready    Readiness = true
	NotReady Readiness = false
)

// Desire adds a desired resource under a name that is unique in this call.
func (c *Call) Desire(name string, obj any, ready Readiness) error {
	s, err := encode(obj)
	if err != nil {
		return fmt.Errorf("cannot encode desired resource %q: %w", name, err)
	}
	state := fnv1.Ready_READY_FALSE
	if ready {
		state = fnv1.Ready_READY_TRUE
	}
	c.rsp.Desired.Resources[name] = &fnv1.Resource{Resource: s, Ready: state}
	return nil
}

// SetStatus sets the composite's status.
func (c *Call) SetStatus(apiVersion, kind string, status any) error {
	fields, err := tree(status)
	if err != nil {
		return fmt.Errorf("cannot encode status: %w", err)
	}
	delete(fields, "conditions")
	s, err := structpb.NewStruct(map[string]any{"apiVersion": apiVersion, "kind": kind, "status": fields})
	if err != nil {
		return fmt.Errorf("cannot encode status: %w", err)
	}
	c.rsp.Desired.Composite = &fnv1.Resource{Resource: s}
	return nil
}

// True sets a condition to true on the composite and its claim.
func (c *Call) True(condition string, r reason.Reason, format string, args ...any) {
	response.ConditionTrue(c.rsp, condition, string(r)).WithMessage(fmt.Sprintf(format, args...)).TargetCompositeAndClaim()
}

// False sets a condition to false on the composite and its claim.
func (c *Call) False(condition string, r reason.Reason, format string, args ...any) {
	response.ConditionFalse(c.rsp, condition, string(r)).WithMessage(fmt.Sprintf(format, args...)).TargetCompositeAndClaim()
}

// Require asks for an object that is not composed here, by name. The object is
// decoded if it is known already. known is false as long as nobody has looked.
func (c *Call) Require(key, apiVersion, kind, namespace, name string, into any) (found, known bool) {
	if c.rsp.GetRequirements() == nil {
		c.rsp.Requirements = &fnv1.Requirements{Resources: map[string]*fnv1.ResourceSelector{}}
	}
	c.rsp.Requirements.Resources[key] = &fnv1.ResourceSelector{
		ApiVersion: apiVersion,
		Kind:       kind,
		Match:      &fnv1.ResourceSelector_MatchName{MatchName: name},
		Namespace:  &namespace,
	}
	items, known := c.req.GetRequiredResources()[key]
	if !known || len(items.GetItems()) == 0 {
		return false, known
	}
	return decode(items.GetItems()[0].GetResource(), into) == nil, true
}

func decode(s *structpb.Struct, into any) error {
	raw, err := json.Marshal(s.AsMap())
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// encode drops what a desired object does not have: status and creation time.
func encode(obj any) (*structpb.Struct, error) {
	fields, err := tree(obj)
	if err != nil {
		return nil, err
	}
	prune(fields)
	delete(fields, "status")
	return structpb.NewStruct(fields)
}

// prune removes the null creation timestamps that Go's Kubernetes types write.
func prune(v any) {
	switch v := v.(type) {
	case map[string]any:
		if t, ok := v["creationTimestamp"]; ok && t == nil {
			delete(v, "creationTimestamp")
		}
		for _, child := range v {
			prune(child)
		}
	case []any:
		for _, child := range v {
			prune(child)
		}
	}
}

func tree(v any) (map[string]any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	return fields, nil
}
