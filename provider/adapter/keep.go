package adapter

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

// wanted is the spec of a managed resource for a thing that may exist. What
// spec.forProvider leaves out is what the thing has, if the kind says so; late
// reports that it was written there as well.
func (c *client[M, S, O]) wanted(ctx context.Context, m M) (s S, late bool, err error) {
	s, err = c.spec(ctx, m)
	viewer, ok := c.outer.(external.Viewer[S])
	if err != nil || !ok || !c.kind.Keeps {
		return s, false, err
	}
	seen, err := viewer.View(ctx, s, false)
	if fault.Is(err, fault.NotFound) {
		return s, false, nil
	}
	if err != nil {
		return s, false, err
	}
	parameters, _ := c.kind.Fields(m)
	given, err := fields(parameters)
	if err != nil {
		return s, false, err
	}
	found, err := fields(seen)
	if err != nil {
		return s, false, err
	}
	if !fill(given, found) {
		return s, false, nil
	}
	var whole S
	if err := Convert(given, &whole); err != nil {
		return s, false, err
	}
	if !allows(m, xpv2.ManagementActionLateInitialize) {
		return whole, false, nil
	}
	return whole, true, Convert(given, parameters)
}

// allows reports whether the management policies of a resource include an action.
func allows(m resource.Managed, action xpv2.ManagementAction) bool {
	p := m.GetManagementPolicies()
	return slices.Contains(p, xpv2.ManagementActionAll) || slices.Contains(p, action)
}

// fields of a value, by their JSON names. Numbers keep all their digits.
func fields(v any) (map[string]any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fault.Errorf(fault.Internal, "cannot encode %T: %w", v, err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out map[string]any
	if err := d.Decode(&out); err != nil {
		return nil, fault.Errorf(fault.Internal, "cannot decode %T: %w", v, err)
	}
	return out, nil
}

// fill gives an object the fields that it leaves out and another one has, and
// reports whether there were any. Objects in lists of the same length are
// filled one by one; any other value that is there is somebody's choice.
func fill(to, from map[string]any) bool {
	filled := false
	for key, value := range from {
		have, ok := to[key]
		if !ok {
			to[key], filled = value, true
			continue
		}
		parts, ok1 := have.([]any)
		others, ok2 := value.([]any)
		if !ok1 || !ok2 || len(parts) != len(others) {
			continue
		}
		for i := range parts {
			part, ok1 := parts[i].(map[string]any)
			other, ok2 := others[i].(map[string]any)
			if ok1 && ok2 && fill(part, other) {
				filled = true
			}
		}
	}
	return filled
}
