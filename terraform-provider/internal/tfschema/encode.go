package tfschema

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// An Encoded is a value with the field names of YAML.
type Encoded struct {
	Value   any      // nil if there is none
	Unknown []string // YAML paths ("spec.model.sourceUrl") of unknown values, which Value lacks
}

// Encode converts a Terraform value into one as encoding/json decodes it. It
// leaves out null. path is the YAML path of the field.
func Encode(f *crd.Field, v tftypes.Value, path string) (Encoded, error) {
	e := &encoder{}
	out, err := e.encode(f, v, path)
	return Encoded{Value: out, Unknown: e.unknown}, err
}

type encoder struct{ unknown []string }

func (e *encoder) encode(f *crd.Field, v tftypes.Value, path string) (any, error) {
	if v.IsNull() {
		return nil, nil
	}
	if !v.IsKnown() {
		e.unknown = append(e.unknown, path)
		return nil, nil
	}
	switch f.Type {
	case crd.Object:
		return e.object(f, v, path)
	case crd.List, crd.Set:
		return e.list(f, v, path)
	case crd.Map:
		return e.dictionary(f, v, path)
	case crd.JSON:
		return parse(v, path)
	case crd.Bool, crd.Integer, crd.Number, crd.String, crd.Quantity:
	}
	return Plain(v)
}

// parse reads an object from its JSON.
func parse(v tftypes.Value, path string) (any, error) {
	var text string
	if err := v.As(&text); err != nil {
		return nil, err
	}
	out := map[string]any{}
	if err := utiljson.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("cannot read %s as the JSON of an object: %w: write it with jsonencode", path, err)
	}
	return out, nil
}

func (e *encoder) object(f *crd.Field, v tftypes.Value, path string) (any, error) {
	var values map[string]tftypes.Value
	if err := v.As(&values); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, c := range f.Fields {
		child, ok := values[c.Attribute]
		if !ok {
			continue
		}
		got, err := e.encode(c, child, path+"."+c.Name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Attribute, err)
		}
		if got != nil {
			out[c.Name] = got
		}
	}
	return out, nil
}

func (e *encoder) list(f *crd.Field, v tftypes.Value, path string) (any, error) {
	var values []tftypes.Value
	if err := v.As(&values); err != nil {
		return nil, err
	}
	out := make([]any, 0, len(values))
	for i, child := range values {
		got, err := e.encode(f.Elem, child, fmt.Sprintf("%s[%d]", path, i))
		if err != nil {
			return nil, err
		}
		out = append(out, got)
	}
	if f.Type == crd.Set {
		slices.SortFunc(out, compare)
	}
	return out, nil
}

func (e *encoder) dictionary(f *crd.Field, v tftypes.Value, path string) (any, error) {
	var values map[string]tftypes.Value
	if err := v.As(&values); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for key, child := range values {
		got, err := e.encode(f.Elem, child, path+"["+key+"]")
		if err != nil {
			return nil, err
		}
		if got != nil {
			out[key] = got
		}
	}
	return out, nil
}

// compare orders values by their JSON.
func compare(a, b any) int {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return slices.Compare(x, y)
}
