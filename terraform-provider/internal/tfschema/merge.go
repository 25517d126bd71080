package tfschema

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// A Mode says which fields of an object belong to Terraform.
type Mode int

const (
	// Whole means all fields. A field that the configuration leaves out has its
	// default; any other value is drift.
	Whole Mode = iota
	// Configured means only the fields in the configuration. Others belong to other
	// programs, and the state does not show them.
	Configured
)

// Merge returns the new state of a field: the prior value if it means the same
// as the observed one ("60s" and "1m0s", null and an empty list), and else the
// observed value. An unknown prior value counts as null.
func Merge(f *crd.Field, prior tftypes.Value, seen any, mode Mode) (tftypes.Value, error) {
	if !prior.IsKnown() {
		prior = tftypes.NewValue(Type(f), nil)
	}
	if prior.IsNull() && mode == Configured {
		return prior, nil
	}
	if seen == nil {
		return absent(f, prior, mode)
	}
	switch {
	case f.Type == crd.Object:
		return mergeObject(f, prior, seen, mode)
	case f.Type == crd.Map && !prior.IsNull():
		return mergeMap(f, prior, seen, mode)
	case f.Type == crd.List && !prior.IsNull():
		return mergeList(f, prior, seen, mode)
	}
	now, err := Decode(f, seen)
	if err != nil {
		return now, err
	}
	if Same(f, prior, now) {
		return prior, nil
	}
	if prior.IsNull() && f.Type == crd.String && seen == "" {
		return absent(f, prior, mode)
	}
	return now, nil
}

// absent returns the state of a field that the object lacks.
func absent(f *crd.Field, prior tftypes.Value, mode Mode) (tftypes.Value, error) {
	if empty(f, prior) {
		return prior, nil
	}
	if mode == Configured {
		return tftypes.NewValue(Type(f), nil), nil
	}
	return Decode(f, Zero(f))
}

// Zero returns the value of a field that the configuration leaves out in mode
// Whole: its default, or the empty value where that means none. nil is null.
func Zero(f *crd.Field) any {
	if f.Kept {
		return nil
	}
	if f.Default != nil {
		return f.Default
	}
	if f.Required {
		return nil
	}
	switch f.Type {
	case crd.Bool:
		return false
	case crd.Integer, crd.Number:
		if f.Minimum == nil || *f.Minimum <= 0 {
			return int64(0)
		}
	case crd.List, crd.Set:
		if f.Empty {
			return []any{}
		}
	case crd.Map:
		if f.Empty {
			return map[string]any{}
		}
	case crd.String:
		if f.Empty && !f.Duration {
			return ""
		}
	case crd.Quantity, crd.Object, crd.JSON:
	}
	return nil
}

// empty reports whether a value means the same as its absence.
func empty(f *crd.Field, v tftypes.Value) bool {
	if v.IsNull() {
		return false
	}
	e, err := Encode(f, v, "")
	if err != nil {
		return false
	}
	switch x := e.Value.(type) {
	case bool:
		return !x
	case int64:
		return x == 0
	case string:
		return x == ""
	case []any:
		return len(x) == 0
	case map[string]any:
		return len(x) == 0
	}
	return false
}

func mergeObject(f *crd.Field, prior tftypes.Value, seen any, mode Mode) (tftypes.Value, error) {
	m, ok := seen.(map[string]any)
	if !ok {
		return tftypes.Value{}, mismatch(f, seen)
	}
	if prior.IsNull() && len(m) == 0 {
		return prior, nil
	}
	before := map[string]tftypes.Value{}
	if !prior.IsNull() {
		if err := prior.As(&before); err != nil {
			return tftypes.Value{}, err
		}
	}
	out := make(map[string]tftypes.Value, len(f.Fields))
	for _, c := range f.Fields {
		p, ok := before[c.Attribute]
		if !ok {
			p = tftypes.NewValue(Type(c), nil)
		}
		v, err := Merge(c, p, m[c.Name], mode)
		if err != nil {
			return tftypes.Value{}, err
		}
		out[c.Attribute] = v
	}
	return tftypes.NewValue(Type(f), out), nil
}

func mergeList(f *crd.Field, prior tftypes.Value, seen any, mode Mode) (tftypes.Value, error) {
	l, ok := seen.([]any)
	if !ok {
		return tftypes.Value{}, mismatch(f, seen)
	}
	var before []tftypes.Value
	if err := prior.As(&before); err != nil {
		return tftypes.Value{}, err
	}
	out := make([]tftypes.Value, 0, len(l))
	for i, e := range l {
		var v tftypes.Value
		var err error
		if i < len(before) {
			v, err = Merge(f.Elem, before[i], e, mode)
		} else {
			v, err = Decode(f.Elem, e)
		}
		if err != nil {
			return tftypes.Value{}, err
		}
		out = append(out, v)
	}
	return tftypes.NewValue(Type(f), out), nil
}

func mergeMap(f *crd.Field, prior tftypes.Value, seen any, mode Mode) (tftypes.Value, error) {
	m, ok := seen.(map[string]any)
	if !ok {
		return tftypes.Value{}, mismatch(f, seen)
	}
	var before map[string]tftypes.Value
	if err := prior.As(&before); err != nil {
		return tftypes.Value{}, err
	}
	out := map[string]tftypes.Value{}
	for key, e := range m {
		p, ours := before[key]
		if !ours && mode == Configured {
			continue
		}
		var err error
		if ours {
			out[key], err = Merge(f.Elem, p, e, mode)
		} else {
			out[key], err = Decode(f.Elem, e)
		}
		if err != nil {
			return tftypes.Value{}, err
		}
	}
	return tftypes.NewValue(Type(f), out), nil
}

// Same reports whether two values mean the same, even if they are written
// differently, such as "60s" and "1m".
func Same(f *crd.Field, a, b tftypes.Value) bool {
	if a.IsNull() || b.IsNull() {
		return a.IsNull() && b.IsNull()
	}
	if a.Equal(b) {
		return true
	}
	if !a.IsKnown() || !b.IsKnown() {
		return false
	}
	switch f.Type {
	case crd.Object:
		x, y := Object{}, Object{}
		if a.As((*map[string]tftypes.Value)(&x)) != nil || b.As((*map[string]tftypes.Value)(&y)) != nil {
			return false
		}
		return !slices.ContainsFunc(f.Fields, func(c *crd.Field) bool { return !Same(c, x[c.Attribute], y[c.Attribute]) })
	case crd.Map:
		var x, y map[string]tftypes.Value
		if a.As(&x) != nil || b.As(&y) != nil {
			return false
		}
		return maps.EqualFunc(x, y, func(v, w tftypes.Value) bool { return Same(f.Elem, v, w) })
	case crd.List:
		var x, y []tftypes.Value
		if a.As(&x) != nil || b.As(&y) != nil {
			return false
		}
		return slices.EqualFunc(x, y, func(v, w tftypes.Value) bool { return Same(f.Elem, v, w) })
	case crd.String, crd.Quantity, crd.JSON:
		var x, y string
		if a.As(&x) != nil || b.As(&y) != nil {
			return false
		}
		return sameText(f, x, y)
	case crd.Set, crd.Integer, crd.Number, crd.Bool:
	}
	return false
}

func sameText(f *crd.Field, a, b string) bool {
	switch {
	case f.Type == crd.Quantity:
		return sameQuantity(a, b)
	case f.Type == crd.JSON:
		return sameJSON(a, b)
	case f.Duration:
		return sameDuration(a, b)
	}
	return sameMoment(a, b)
}

func sameQuantity(a, b string) bool {
	x, errX := resource.ParseQuantity(a)
	y, errY := resource.ParseQuantity(b)
	return errX == nil && errY == nil && x.Cmp(y) == 0
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

func sameDuration(a, b string) bool {
	x, errX := time.ParseDuration(a)
	y, errY := time.ParseDuration(b)
	return errX == nil && errY == nil && x == y
}

func sameMoment(a, b string) bool {
	x, errX := time.Parse(time.RFC3339, a)
	y, errY := time.Parse(time.RFC3339, b)
	return errX == nil && errY == nil && x.Equal(y)
}
