package tfschema

import (
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// An Object holds the values of a resource by attribute.
type Object map[string]tftypes.Value

// Unpack returns the attributes of a resource's value; null has none.
func Unpack(v tftypes.Value) (Object, error) {
	o := Object{}
	if v.IsNull() {
		return o, nil
	}
	var m map[string]tftypes.Value
	if err := v.As(&m); err != nil {
		return nil, err
	}
	maps.Copy(o, m) // As returns the value's own map
	return o, nil
}

// Pack reverses Unpack.
func (o Object) Pack(t tftypes.Type) tftypes.Value {
	return tftypes.NewValue(t, map[string]tftypes.Value(o))
}

// Encode converts the attributes for the fields of f into a map[string]any with
// the field names of YAML. path is the YAML path of f.
func (o Object) Encode(f *crd.Field, path string) (Encoded, error) {
	spec := map[string]any{}
	out := Encoded{Value: spec}
	for _, c := range f.Fields {
		v, ok := o[c.Attribute]
		if !ok {
			continue
		}
		e, err := Encode(c, v, path+"."+c.Name)
		if err != nil {
			return out, fmt.Errorf("cannot read attribute %q: %w", c.Attribute, err)
		}
		out.Unknown = append(out.Unknown, e.Unknown...)
		if e.Value != nil {
			spec[c.Name] = e.Value
		}
	}
	return out, nil
}

// Known is Encode for an object without unknown values.
func (o Object) Known(f *crd.Field) (map[string]any, error) {
	e, err := o.Encode(f, "")
	if err != nil {
		return nil, err
	}
	spec, _ := e.Value.(map[string]any)
	return spec, nil
}

// Text returns a string attribute; "" if it is null or unknown.
func (o Object) Text(attribute string) string {
	var s string
	if v, ok := o[attribute]; !ok || !v.IsKnown() || v.IsNull() || v.As(&s) != nil {
		return ""
	}
	return s
}

// True reports whether an attribute is true.
func (o Object) True(attribute string) bool {
	var b bool
	v, ok := o[attribute]
	return ok && v.IsKnown() && !v.IsNull() && v.As(&b) == nil && b
}

// Set sets a string attribute.
func (o Object) Set(attribute, value string) {
	o[attribute] = tftypes.NewValue(tftypes.String, value)
}

// Strings returns an attribute that is a map of strings; nil if it is null or
// unknown.
func (o Object) Strings(attribute string) map[string]any {
	var m map[string]tftypes.Value
	if v, ok := o[attribute]; !ok || !v.IsKnown() || v.IsNull() || v.As(&m) != nil {
		return nil
	}
	out := map[string]any{}
	for k, v := range m {
		var s string
		if v.IsKnown() && !v.IsNull() && v.As(&s) == nil {
			out[k] = s
		}
	}
	return out
}
