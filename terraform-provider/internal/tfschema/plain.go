package tfschema

import (
	"fmt"
	"math/big"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Plain converts a value of any type into one as encoding/json decodes it. It
// leaves null attributes out of objects.
func Plain(v tftypes.Value) (any, error) {
	if v.IsNull() {
		return nil, nil
	}
	if !v.IsKnown() {
		return nil, fmt.Errorf("cannot use a value that is not known yet")
	}
	t := v.Type()
	switch {
	case t.Is(tftypes.String):
		var s string
		err := v.As(&s)
		return s, err
	case t.Is(tftypes.Bool):
		var b bool
		err := v.As(&b)
		return b, err
	case t.Is(tftypes.Number):
		var n big.Float
		if err := v.As(&n); err != nil {
			return nil, err
		}
		if i, exact := n.Int64(); exact == big.Exact {
			return i, nil
		}
		x, _ := n.Float64()
		return x, nil
	case t.Is(tftypes.Object{}), t.Is(tftypes.Map{}):
		var m map[string]tftypes.Value
		if err := v.As(&m); err != nil {
			return nil, err
		}
		out := map[string]any{}
		for k, e := range m {
			p, err := Plain(e)
			if err != nil {
				return nil, err
			}
			if p != nil {
				out[k] = p
			}
		}
		return out, nil
	}
	var l []tftypes.Value
	if err := v.As(&l); err != nil {
		return nil, err
	}
	out := make([]any, 0, len(l))
	for _, e := range l {
		p, err := Plain(e)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}
