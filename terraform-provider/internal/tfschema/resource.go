package tfschema

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/defaults"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/float64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// ResourceAttributes returns the attributes of a resource for the fields of an
// Object. A change of an immutable field, or of an attribute in identity,
// replaces the resource. In mode Whole the plan fills optional attributes in
// with their defaults or the present values. In mode Configured they stay null,
// because the cluster fills them in.
func ResourceAttributes(f *crd.Field, mode Mode, identity ...string) map[string]schema.Attribute {
	out := make(map[string]schema.Attribute, len(f.Fields))
	for _, c := range f.Fields {
		b := builder{mode: mode, replace: c.Immutable}
		for _, id := range identity {
			b.replace = b.replace || id == c.Attribute
		}
		out[c.Attribute] = b.attribute(c)
	}
	return out
}

// Computed returns an attribute that only the provider sets.
func Computed(f *crd.Field) schema.Attribute {
	return builder{computed: true}.attribute(f)
}

type builder struct {
	mode     Mode
	computed bool
	replace  bool
}

// below builds the attribute of a child.
func (b builder) below(c *crd.Field) schema.Attribute {
	return builder{mode: b.mode, computed: b.computed, replace: c.Immutable}.attribute(c)
}

func (b builder) attribute(f *crd.Field) schema.Attribute {
	required := f.Required && !b.computed
	var fallback attr.Value
	if b.mode == Whole && !required && !b.computed {
		fallback = zeroValue(f)
	}
	computed := b.computed || fallback != nil || b.mode == Whole && f.Kept
	optional := !required && !b.computed
	value := static{value: fallback}
	d := b.describe(f, fallback != nil)
	switch f.Type {
	case crd.Bool:
		a := schema.BoolAttribute{Description: d, Required: required, Optional: optional, Computed: computed}
		if fallback != nil {
			a.Default = value
		}
		if b.replace {
			a.PlanModifiers = []planmodifier.Bool{boolplanmodifier.RequiresReplace()}
		}
		return a
	case crd.Integer:
		a := schema.Int64Attribute{Description: d, Required: required, Optional: optional, Computed: computed}
		if fallback != nil {
			a.Default = value
		}
		if b.replace {
			a.PlanModifiers = []planmodifier.Int64{int64planmodifier.RequiresReplace()}
		}
		return a
	case crd.Number:
		a := schema.Float64Attribute{Description: d, Required: required, Optional: optional, Computed: computed}
		if fallback != nil {
			a.Default = value
		}
		if b.replace {
			a.PlanModifiers = []planmodifier.Float64{float64planmodifier.RequiresReplace()}
		}
		return a
	case crd.Object:
		a := schema.SingleNestedAttribute{Description: d, Required: required, Optional: optional, Computed: computed, Attributes: b.children(f)}
		if b.replace {
			a.PlanModifiers = []planmodifier.Object{objectplanmodifier.RequiresReplace()}
		}
		return a
	case crd.List:
		return b.list(f, d, required, optional, computed, value)
	case crd.Set:
		return b.set(f, d, required, optional, computed, value)
	case crd.Map:
		return b.dictionary(f, d, required, optional, computed, value)
	case crd.String, crd.Quantity, crd.JSON:
	}
	a := schema.StringAttribute{Description: d, Required: required, Optional: optional, Computed: computed, Sensitive: f.Secret}
	if fallback != nil {
		a.Default = value
	}
	if b.replace {
		a.PlanModifiers = []planmodifier.String{stringplanmodifier.RequiresReplace()}
	}
	return a
}

func (b builder) describe(f *crd.Field, fallback bool) string {
	d := Describe(f)
	if fallback {
		d = described(f, Zero(f))
	}
	if b.replace {
		d += " " + Replaces
	}
	return d
}

func (b builder) children(f *crd.Field) map[string]schema.Attribute {
	out := make(map[string]schema.Attribute, len(f.Fields))
	for _, c := range f.Fields {
		out[c.Attribute] = b.below(c)
	}
	return out
}

func (b builder) list(f *crd.Field, d string, required, optional, computed bool, fallback static) schema.Attribute {
	var modifiers []planmodifier.List
	if b.replace {
		modifiers = append(modifiers, listplanmodifier.RequiresReplace())
	}
	var def defaults.List
	if fallback.value != nil {
		def = fallback
	}
	if f.Elem.Type == crd.Object {
		return schema.ListNestedAttribute{Description: d, Required: required, Optional: optional, Computed: computed, PlanModifiers: modifiers, Default: def,
			NestedObject: schema.NestedAttributeObject{Attributes: b.children(f.Elem)}}
	}
	return schema.ListAttribute{Description: d, Required: required, Optional: optional, Computed: computed, PlanModifiers: modifiers, Default: def, ElementType: attrType(f.Elem)}
}

func (b builder) set(f *crd.Field, d string, required, optional, computed bool, fallback static) schema.Attribute {
	var modifiers []planmodifier.Set
	if b.replace {
		modifiers = append(modifiers, setplanmodifier.RequiresReplace())
	}
	var def defaults.Set
	if fallback.value != nil {
		def = fallback
	}
	if f.Elem.Type == crd.Object {
		return schema.SetNestedAttribute{Description: d, Required: required, Optional: optional, Computed: computed, PlanModifiers: modifiers, Default: def,
			NestedObject: schema.NestedAttributeObject{Attributes: b.children(f.Elem)}}
	}
	return schema.SetAttribute{Description: d, Required: required, Optional: optional, Computed: computed, PlanModifiers: modifiers, Default: def, ElementType: attrType(f.Elem)}
}

func (b builder) dictionary(f *crd.Field, d string, required, optional, computed bool, fallback static) schema.Attribute {
	var modifiers []planmodifier.Map
	if b.replace {
		modifiers = append(modifiers, mapplanmodifier.RequiresReplace())
	}
	var def defaults.Map
	if fallback.value != nil {
		def = fallback
	}
	if f.Elem.Type == crd.Object {
		return schema.MapNestedAttribute{Description: d, Required: required, Optional: optional, Computed: computed, PlanModifiers: modifiers, Default: def,
			NestedObject: schema.NestedAttributeObject{Attributes: b.children(f.Elem)}}
	}
	return schema.MapAttribute{Description: d, Required: required, Optional: optional, Computed: computed, PlanModifiers: modifiers, Default: def, ElementType: attrType(f.Elem)}
}

// zeroValue returns Zero as a framework value; nil if Zero is null.
func zeroValue(f *crd.Field) attr.Value {
	zero := Zero(f)
	if zero == nil || f.Type == crd.Object {
		return nil
	}
	raw, err := Decode(f, zero)
	if err != nil {
		return nil
	}
	v, err := attrType(f).ValueFromTerraform(context.Background(), raw)
	if err != nil {
		return nil
	}
	return v
}
