package base

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/face"
)

// AttrReady is the attribute that says whether a thing can be used.
const AttrReady = "ready"

// A Change is what is to become of a resource. Its Plan is there to be changed.
type Change struct {
	Config, State, Plan face.Object
	New                 bool // there is no state yet
}

// ReadChange reads what Terraform proposes.
func ReadChange(req resource.ModifyPlanRequest) (Change, error) {
	c := Change{New: req.State.Raw.IsNull()}
	for _, part := range []struct {
		to   *face.Object
		from tftypes.Value
	}{{&c.Config, req.Config.Raw}, {&c.State, req.State.Raw}, {&c.Plan, req.Plan.Raw}} {
		var err error
		if *part.to, err = face.Unpack(part.from); err != nil {
			return c, err
		}
	}
	return c, nil
}

// A Told attribute is one that the provider tells when it has applied.
type Told struct {
	Attribute string
	// Steady are those of its fields that follow from nothing but the attributes
	// given: they stay as long as these do.
	Steady map[string][]string
}

// Tell are attributes of which nothing is steady.
func Tell(attributes ...string) []Told {
	out := make([]Told, 0, len(attributes))
	for _, a := range attributes {
		out = append(out, Told{Attribute: a})
	}
	return out
}

// Settle puts the plan in the words of the state: what means the same is the
// same, and what is left to the thing stays as it is. If nothing is to change
// and the thing is ready, nothing is planned at all; otherwise the told
// attributes are said by the next apply, which goes on where one before ended.
func (c Change) Settle(spec *crd.Field, told ...Told) {
	if c.New {
		return
	}
	for _, f := range spec.Fields {
		a := f.Attribute
		switch {
		case f.Kept && c.Config[a].IsNull() && !c.Plan[a].IsKnown():
			c.Plan[a] = c.State[a]
		case f.Kept && zero(f, c.Plan[a]) && !c.State[a].IsNull():
			c.Plan[a] = c.State[a]
		case c.Plan[a].IsFullyKnown() && face.Same(f, c.State[a], c.Plan[a]):
			c.Plan[a] = c.State[a]
		}
	}
	changed := !c.State.True(AttrReady)
	for a := range c.Plan {
		is := func(t Told) bool { return t.Attribute == a }
		changed = changed || !slices.ContainsFunc(told, is) && c.changes(a)
	}
	for _, t := range told {
		c.Plan[t.Attribute] = c.State[t.Attribute]
		if changed {
			c.Plan[t.Attribute] = c.later(t)
		}
	}
}

func (c Change) changes(attribute string) bool {
	return !c.Plan[attribute].Equal(c.State[attribute])
}

// later is a told attribute that is known after the apply, but for what is
// steady.
func (c Change) later(t Told) tftypes.Value {
	was := c.State[t.Attribute]
	unknown := tftypes.NewValue(was.Type(), tftypes.UnknownValue)
	if len(t.Steady) == 0 || was.IsNull() {
		return unknown
	}
	fields, err := face.Unpack(was)
	if err != nil {
		return unknown
	}
	for name, v := range fields {
		by, steady := t.Steady[name]
		if !steady || v.IsNull() || slices.ContainsFunc(by, c.changes) {
			fields[name] = tftypes.NewValue(v.Type(), tftypes.UnknownValue)
		}
	}
	return fields.Pack(was.Type())
}
