package tfschema

import (
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// Decode converts a value as encoding/json decodes it into a Terraform value.
// nil becomes null, and so does a field that an object lacks.
func Decode(f *crd.Field, v any) (tftypes.Value, error) {
	t := Type(f)
	if v == nil {
		return tftypes.NewValue(t, nil), nil
	}
	switch f.Type {
	case crd.Object:
		m, ok := v.(map[string]any)
		if !ok {
			return tftypes.Value{}, mismatch(f, v)
		}
		return decodeObject(f, t, m)
	case crd.List, crd.Set:
		l, ok := v.([]any)
		if !ok {
			return tftypes.Value{}, mismatch(f, v)
		}
		return decodeList(f, t, l)
	case crd.Map:
		m, ok := v.(map[string]any)
		if !ok {
			return tftypes.Value{}, mismatch(f, v)
		}
		return decodeMap(f, t, m)
	case crd.Bool:
		b, ok := v.(bool)
		if !ok {
			return tftypes.Value{}, mismatch(f, v)
		}
		return tftypes.NewValue(t, b), nil
	case crd.Integer, crd.Number:
		return decodeNumber(f, v)
	case crd.JSON:
		raw, err := json.Marshal(v)
		return tftypes.NewValue(t, string(raw)), err
	case crd.String, crd.Quantity:
	}
	switch s := v.(type) {
	case string:
		return tftypes.NewValue(t, s), nil
	case json.Number, int64, float64, int:
		if f.Type == crd.Quantity {
			return tftypes.NewValue(t, fmt.Sprint(s)), nil
		}
	}
	return tftypes.Value{}, mismatch(f, v)
}

func decodeNumber(f *crd.Field, v any) (tftypes.Value, error) {
	var n *big.Float
	switch x := v.(type) {
	case json.Number:
		var ok bool
		// Terraform itself parses numbers with 512 bits.
		if n, ok = new(big.Float).SetPrec(512).SetString(x.String()); !ok {
			return tftypes.Value{}, mismatch(f, v)
		}
	case int64:
		n = new(big.Float).SetInt64(x)
	case int:
		n = new(big.Float).SetInt64(int64(x))
	case float64:
		n = new(big.Float).SetFloat64(x)
	default:
		return tftypes.Value{}, mismatch(f, v)
	}
	return tftypes.NewValue(tftypes.Number, n), nil
}

func decodeObject(f *crd.Field, t tftypes.Type, m map[string]any) (tftypes.Value, error) {
	out := make(map[string]tftypes.Value, len(f.Fields))
	for _, c := range f.Fields {
		v, err := Decode(c, m[c.Name])
		if err != nil {
			return tftypes.Value{}, err
		}
		out[c.Attribute] = v
	}
	return tftypes.NewValue(t, out), nil
}

func decodeList(f *crd.Field, t tftypes.Type, l []any) (tftypes.Value, error) {
	out := make([]tftypes.Value, 0, len(l))
	for _, e := range l {
		v, err := Decode(f.Elem, e)
		if err != nil {
			return tftypes.Value{}, err
		}
		out = append(out, v)
	}
	return tftypes.NewValue(t, out), nil
}

func decodeMap(f *crd.Field, t tftypes.Type, m map[string]any) (tftypes.Value, error) {
	out := make(map[string]tftypes.Value, len(m))
	for key, e := range m {
		v, err := Decode(f.Elem, e)
		if err != nil {
			return tftypes.Value{}, err
		}
		out[key] = v
	}
	return tftypes.NewValue(t, out), nil
}

func mismatch(f *crd.Field, v any) error {
	return fmt.Errorf("cannot read field %q: it is a %T", f.Name, v)
}
