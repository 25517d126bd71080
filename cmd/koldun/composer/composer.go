// Package composer runs the composition function in this process, as Crossplane runs it over
// gRPC.
package composer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
	"github.com/gorizond/koldun/internal/local"
)

// A Composer runs the composition function.
type Composer struct {
	function *router.Function
	schemas  *validation.Schemas
}

var _ local.Composer = (*Composer)(nil)

// New returns a composer. The schemas hold the defaults of what is composed.
func New(schemas *validation.Schemas, c compose.Config) *Composer {
	return &Composer{function: router.New(c), schemas: schemas}
}

// Compose calls the function and fills in the defaults of the desired objects, as an
// API server does when Crossplane applies them.
func (c *Composer) Compose(ctx context.Context, xr local.Object, observed map[string]local.Object, required map[string][]local.Object) (local.Composed, error) {
	if key := xr.Key(); c.schemas.ClusterScoped(key.APIVersion, key.Kind) {
		xr = withoutNamespace(xr)
	}
	req, err := request(xr, observed, required)
	if err != nil {
		return local.Composed{}, err
	}
	rsp, err := c.function.RunFunction(ctx, req)
	if err != nil {
		return local.Composed{}, err
	}
	return c.composed(rsp)
}

// withoutNamespace returns a cluster-scoped object as a cluster has it: on one machine
// every object is in a namespace.
func withoutNamespace(obj local.Object) local.Object {
	out := maps.Clone(obj)
	if meta, ok := obj["metadata"].(map[string]any); ok {
		meta = maps.Clone(meta)
		delete(meta, "namespace")
		out["metadata"] = meta
	}
	return out
}

func request(xr local.Object, observed map[string]local.Object, required map[string][]local.Object) (*fnv1.RunFunctionRequest, error) {
	composite, err := resource(xr)
	if err != nil {
		return nil, err
	}
	req := &fnv1.RunFunctionRequest{
		Observed:          &fnv1.State{Composite: composite, Resources: map[string]*fnv1.Resource{}},
		RequiredResources: map[string]*fnv1.Resources{},
	}
	for name, obj := range observed {
		if req.Observed.Resources[name], err = resource(obj); err != nil {
			return nil, err
		}
	}
	for key, objs := range required {
		items := &fnv1.Resources{}
		for _, obj := range objs {
			r, err := resource(obj)
			if err != nil {
				return nil, err
			}
			items.Items = append(items.Items, r)
		}
		req.RequiredResources[key] = items
	}
	return req, nil
}

// resource converts through JSON, because structpb does not accept all number types
// of an Object.
func resource(obj local.Object) (*fnv1.Resource, error) {
	raw, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s: %w", obj.Key(), err)
	}
	s := &structpb.Struct{}
	if err := s.UnmarshalJSON(raw); err != nil {
		return nil, fmt.Errorf("cannot encode %s: %w", obj.Key(), err)
	}
	return &fnv1.Resource{Resource: s}, nil
}

func (c *Composer) composed(rsp *fnv1.RunFunctionResponse) (local.Composed, error) {
	out := local.Composed{
		Desired:      map[string]local.Object{},
		Ready:        map[string]bool{},
		Requirements: map[string]local.Requirement{},
	}
	for name, r := range rsp.GetDesired().GetResources() {
		fields := r.GetResource().AsMap()
		c.schemas.Default(fields)
		obj, err := local.NewObject(fields)
		if err != nil {
			return local.Composed{}, err
		}
		out.Desired[name] = obj
		if r.GetReady() != fnv1.Ready_READY_UNSPECIFIED {
			out.Ready[name] = r.GetReady() == fnv1.Ready_READY_TRUE
		}
	}
	out.Unready = rsp.GetDesired().GetComposite().GetReady() == fnv1.Ready_READY_FALSE
	if composite := rsp.GetDesired().GetComposite().GetResource(); composite != nil {
		out.Status, _ = composite.AsMap()["status"].(map[string]any)
	}
	for _, cond := range rsp.GetConditions() {
		out.Conditions = append(out.Conditions, local.Condition{
			Type: cond.GetType(), Status: status(cond.GetStatus()), Reason: cond.GetReason(), Message: cond.GetMessage(),
		})
	}
	for _, r := range rsp.GetResults() {
		out.Results = append(out.Results, local.Result{Severity: severity(r.GetSeverity()), Reason: r.GetReason(), Message: r.GetMessage()})
	}
	for key, s := range rsp.GetRequirements().GetResources() {
		out.Requirements[key] = local.Requirement{
			APIVersion: s.GetApiVersion(), Kind: s.GetKind(), Namespace: s.GetNamespace(), Name: s.GetMatchName(), MatchLabels: s.GetMatchLabels().GetLabels(),
		}
	}
	return out, nil
}

func status(s fnv1.Status) string {
	switch s {
	case fnv1.Status_STATUS_CONDITION_TRUE:
		return local.True
	case fnv1.Status_STATUS_CONDITION_FALSE:
		return local.False
	}
	return "Unknown"
}

func severity(s fnv1.Severity) local.Severity {
	switch s {
	case fnv1.Severity_SEVERITY_FATAL:
		return local.Fatal
	case fnv1.Severity_SEVERITY_WARNING:
		return local.Warning
	}
	return local.Normal
}
