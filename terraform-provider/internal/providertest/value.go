package providertest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Unknown is a value that is not known yet.
type Unknown struct{}

// Build converts a value as encoding/json decodes it into one of a type. Fields
// that an object lacks become null. A field that the type lacks fails the test.
func Build(t testing.TB, typ tftypes.Type, v any) tftypes.Value {
	t.Helper()
	switch x := v.(type) {
	case nil:
		return tftypes.NewValue(typ, nil)
	case Unknown:
		return tftypes.NewValue(typ, tftypes.UnknownValue)
	case tftypes.Value:
		return x
	case json.Number:
		n, ok := new(big.Float).SetPrec(512).SetString(x.String())
		if !ok {
			t.Fatalf("%q is no number", x)
		}
		return tftypes.NewValue(typ, n)
	case []any:
		return buildList(t, typ, x)
	case map[string]any:
		return buildMap(t, typ, x)
	}
	if typ.Is(tftypes.DynamicPseudoType) {
		t.Fatalf("give a tftypes.Value for a dynamic type, not a %T", v)
	}
	return tftypes.NewValue(typ, v)
}

func buildList(t testing.TB, typ tftypes.Type, l []any) tftypes.Value {
	t.Helper()
	var elem tftypes.Type
	switch x := typ.(type) {
	case tftypes.List:
		elem = x.ElementType
	case tftypes.Set:
		elem = x.ElementType
	default:
		t.Fatalf("a list is given for a %s", typ)
	}
	out := []tftypes.Value{}
	for _, e := range l {
		out = append(out, Build(t, elem, e))
	}
	return tftypes.NewValue(typ, out)
}

func buildMap(t testing.TB, typ tftypes.Type, m map[string]any) tftypes.Value {
	t.Helper()
	out := map[string]tftypes.Value{}
	switch x := typ.(type) {
	case tftypes.Map:
		for k, e := range m {
			out[k] = Build(t, x.ElementType, e)
		}
	case tftypes.Object:
		for k, a := range x.AttributeTypes {
			out[k] = Build(t, a, m[k])
		}
		for k := range m {
			if _, ok := x.AttributeTypes[k]; !ok {
				t.Fatalf("there is no attribute %q", k)
			}
		}
	default:
		t.Fatalf("a map is given for a %s", typ)
	}
	return tftypes.NewValue(typ, out)
}

// JSON converts a value into one as encoding/json decodes it. An unknown value
// becomes "(unknown)".
func JSON(v tftypes.Value) any {
	if v.IsNull() {
		return nil
	}
	if !v.IsKnown() {
		return "(unknown)"
	}
	var s string
	if v.As(&s) == nil {
		return s
	}
	var b bool
	if v.As(&b) == nil {
		return b
	}
	var n big.Float
	if v.As(&n) == nil {
		return json.Number(n.Text('f', -1))
	}
	var l []tftypes.Value
	if v.As(&l) == nil {
		out := []any{}
		for _, e := range l {
			out = append(out, JSON(e))
		}
		return out
	}
	var m map[string]tftypes.Value
	if v.As(&m) == nil {
		out := map[string]any{}
		for k, e := range m {
			out[k] = JSON(e)
		}
		return out
	}
	return fmt.Sprint(v)
}
