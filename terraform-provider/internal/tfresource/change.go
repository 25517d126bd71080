package tfresource

import (
	"math/big"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// AttrReady is the attribute that reports whether the object can be used.
const AttrReady = "ready"

// A Change is a planned change of a resource. The methods modify Plan.
type Change struct {
	Config, State, Plan tfschema.Object
	New                 bool // there is no state yet
}

// ReadChange reads the change that Terraform proposes.
func ReadChange(req resource.ModifyPlanRequest) (Change, error) {
	c := Change{New: req.State.Raw.IsNull()}
	for _, part := range []struct {
		to   *tfschema.Object
		from tftypes.Value
	}{{&c.Config, req.Config.Raw}, {&c.State, req.State.Raw}, {&c.Plan, req.Plan.Raw}} {
		var err error
		if *part.to, err = tfschema.Unpack(part.from); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Computed is an attribute that the provider sets when it applies.
type Computed struct {
	Attribute string
	// DependsOn lists, for some fields of the attribute, all attributes that
	// their values depend on. Such a field keeps its value while these stay. All
	// other fields may change with every apply.
	DependsOn map[string][]string
}

// ComputedAttributes returns attributes that may change with every apply.
func ComputedAttributes(names ...string) []Computed {
	out := make([]Computed, 0, len(names))
	for _, a := range names {
		out = append(out, Computed{Attribute: a})
	}
	return out
}

// Normalize replaces planned values by those of the state where both mean the
// same, and where the configuration leaves the value to the object. If nothing
// changes and the object is ready, the plan is then empty. Otherwise the
// computed attributes become unknown, and the next apply sets them: it continues
// where the one before ended.
func (c Change) Normalize(spec *crd.Field, computed ...Computed) {
	if c.New {
		return
	}
	for _, f := range spec.Fields {
		a := f.Attribute
		switch {
		case f.Kept && c.Config[a].IsNull() && !c.Plan[a].IsKnown():
			c.Plan[a] = c.State[a]
		case f.Kept && isZero(f, c.Plan[a]) && !c.State[a].IsNull():
			c.Plan[a] = c.State[a]
		case c.Plan[a].IsFullyKnown() && tfschema.Same(f, c.State[a], c.Plan[a]):
			c.Plan[a] = c.State[a]
		}
	}
	changed := !c.State.True(AttrReady)
	for a := range c.Plan {
		isComputed := slices.ContainsFunc(computed, func(x Computed) bool { return x.Attribute == a })
		changed = changed || !isComputed && c.changes(a)
	}
	for _, x := range computed {
		c.Plan[x.Attribute] = c.State[x.Attribute]
		if changed {
			c.Plan[x.Attribute] = c.unknown(x)
		}
	}
}

func (c Change) changes(attribute string) bool {
	return !c.Plan[attribute].Equal(c.State[attribute])
}

// unknown returns a value that is known after the apply, with the fields of
// before that depend on nothing that changes.
func (c Change) unknown(x Computed) tftypes.Value {
	before := c.State[x.Attribute]
	unknown := tftypes.NewValue(before.Type(), tftypes.UnknownValue)
	if len(x.DependsOn) == 0 || before.IsNull() {
		return unknown
	}
	fields, err := tfschema.Unpack(before)
	if err != nil {
		return unknown
	}
	for name, v := range fields {
		attributes, listed := x.DependsOn[name]
		if !listed || v.IsNull() || slices.ContainsFunc(attributes, c.changes) {
			fields[name] = tftypes.NewValue(v.Type(), tftypes.UnknownValue)
		}
	}
	return fields.Pack(before.Type())
}

// isZero reports whether a value is the integer 0, which means the same as none.
func isZero(f *crd.Field, v tftypes.Value) bool {
	if f.Type != crd.Integer || !v.IsKnown() || v.IsNull() {
		return false
	}
	var n big.Float
	return v.As(&n) == nil && n.Sign() == 0
}
