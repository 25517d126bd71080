package adapter

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/fault"
)

// wanted returns the managed resource for an external resource that may exist.
// If the kind is late initialized, fields that spec.forProvider leaves out have
// the values of the external resource; late reports whether they were written to
// spec.forProvider as well.
func (c *client) wanted(ctx context.Context, m managedResource) (r catalog.Resource, late bool, err error) {
	r = c.resource(m)
	if !c.kind.LateInitialize || !c.outer.CanView() {
		return r, false, nil
	}
	seen, err := c.outer.View(ctx, r, external.SpecFields)
	if fault.Is(err, fault.NotFound) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	given, err := fields(r.Spec)
	if err != nil {
		return r, false, err
	}
	found, err := fields(seen)
	if err != nil {
		return r, false, err
	}
	if !fill(given, found) {
		return r, false, nil
	}
	r.Spec = given
	if !allows(m, xpv2.ManagementActionLateInitialize) {
		return r, false, nil
	}
	return r, true, catalog.Decode(given, m.GetForProvider())
}

// allows reports whether the management policies of a resource include an action.
func allows(m resource.Managed, action xpv2.ManagementAction) bool {
	p := m.GetManagementPolicies()
	return slices.Contains(p, xpv2.ManagementActionAll) || slices.Contains(p, action)
}

// fields returns the fields of a value by their JSON names. Numbers keep all
// their digits.
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

// fill adds to an object the fields that it leaves out and another one has, and
// reports whether there were any. It fills objects in lists of the same length
// one by one, and keeps any other value.
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
