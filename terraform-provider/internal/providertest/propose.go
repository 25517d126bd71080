package providertest

import (
	"fmt"
	"sort"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// propose returns the state that Terraform proposes to a provider: the
// configuration, with the prior values of computed attributes.
func propose(attributes []*tfprotov6.SchemaAttribute, prior, config tftypes.Value) tftypes.Value {
	before, now := fields(prior), fields(config)
	out := map[string]tftypes.Value{}
	for _, a := range attributes {
		v, p := now[a.Name], before[a.Name]
		typ := v.Type()
		switch {
		case a.WriteOnly:
			v = tftypes.NewValue(typ, nil)
		case v.IsNull() && a.Computed && !p.IsNull() && p.Type() != nil:
			v = p
		case !v.IsNull() && v.IsKnown() && a.NestedType != nil:
			v = nested(a.NestedType, p, v)
		}
		out[a.Name] = v
	}
	return tftypes.NewValue(config.Type(), out)
}

func nested(s *tfprotov6.SchemaObject, prior, config tftypes.Value) tftypes.Value {
	switch s.Nesting {
	case tfprotov6.SchemaObjectNestingModeSingle:
		return propose(s.Attributes, prior, config)
	case tfprotov6.SchemaObjectNestingModeList:
		var before, now []tftypes.Value
		if prior.Type() != nil && prior.IsKnown() && !prior.IsNull() {
			_ = prior.As(&before)
		}
		_ = config.As(&now)
		out := make([]tftypes.Value, len(now))
		for i, v := range now {
			if v.IsNull() || !v.IsKnown() {
				out[i] = v
				continue
			}
			p := tftypes.NewValue(v.Type(), nil)
			if i < len(before) {
				p = before[i]
			}
			out[i] = propose(s.Attributes, p, v)
		}
		return tftypes.NewValue(config.Type(), out)
	case tfprotov6.SchemaObjectNestingModeInvalid, tfprotov6.SchemaObjectNestingModeSet, tfprotov6.SchemaObjectNestingModeMap:
	}
	return config
}

func fields(v tftypes.Value) map[string]tftypes.Value {
	out := map[string]tftypes.Value{}
	if v.Type() == nil || v.IsNull() || !v.IsKnown() {
		return out
	}
	_ = v.As(&out)
	return out
}

// inconsistent lists the differences between a plan and the result.
func inconsistent(planned, got tftypes.Value) []string {
	diffs, err := planned.Diff(got)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, d := range diffs {
		if d.Value1 == nil || !d.Value1.IsFullyKnown() {
			continue // the plan left the value unknown
		}
		out = append(out, fmt.Sprintf("%s: planned %v, got %v", d.Path, JSON(*d.Value1), d.Value2))
	}
	sort.Strings(out)
	return out
}
