package base

import (
	"math/big"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/face"
)

// AttrReady is the attribute that says whether a thing can be used.
const AttrReady = "ready"

// Settle puts a plan in the words of the state: what means the same is the
// same, and what is left to the thing stays as it is. If nothing is to change
// and the thing is ready, nothing is planned at all; otherwise the told
// attributes are said by the next apply, which goes on where one before ended.
func Settle(spec *crd.Field, config, state, plan face.Object, told ...string) {
	for _, f := range spec.Fields {
		a := f.Attribute
		switch {
		case f.Kept && config[a].IsNull() && !plan[a].IsKnown():
			plan[a] = state[a]
		case f.Kept && zero(f, plan[a]) && !state[a].IsNull():
			plan[a] = state[a]
		case plan[a].IsFullyKnown() && face.Same(f, state[a], plan[a]):
			plan[a] = state[a]
		}
	}
	changed := !state.True(AttrReady)
	for a, v := range plan {
		changed = changed || !slices.Contains(told, a) && !v.Equal(state[a])
	}
	for _, a := range told {
		plan[a] = state[a]
		if changed {
			plan[a] = tftypes.NewValue(plan[a].Type(), tftypes.UnknownValue)
		}
	}
}

// zero reports whether a value is a number that means the same as none.
func zero(f *crd.Field, v tftypes.Value) bool {
	if f.Type != crd.Integer || !v.IsKnown() || v.IsNull() {
		return false
	}
	var n big.Float
	return v.As(&n) == nil && n.Sign() == 0
}
