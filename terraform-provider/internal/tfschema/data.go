package tfschema

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// DataAttributes returns the attributes of a data source for the fields of an
// Object. Those in identity are required, all others are computed. The resource
// describes their nested attributes.
func DataAttributes(f *crd.Field, identity ...string) map[string]schema.Attribute {
	out := make(map[string]schema.Attribute, len(f.Fields))
	for _, c := range f.Fields {
		required := false
		for _, id := range identity {
			required = required || id == c.Attribute
		}
		out[c.Attribute] = DataAttribute(c, required)
	}
	return out
}

// DataAttribute returns an attribute of a data source: required, or else computed.
func DataAttribute(f *crd.Field, required bool) schema.Attribute {
	d := described(f, nil)
	switch f.Type {
	case crd.Bool:
		return schema.BoolAttribute{Description: d, Required: required, Computed: !required}
	case crd.Integer:
		return schema.Int64Attribute{Description: d, Required: required, Computed: !required}
	case crd.Number:
		return schema.Float64Attribute{Description: d, Required: required, Computed: !required}
	case crd.Object:
		t, _ := attrType(f).(types.ObjectType)
		return schema.ObjectAttribute{Description: d, Computed: true, AttributeTypes: t.AttrTypes}
	case crd.List:
		return schema.ListAttribute{Description: d, Computed: true, ElementType: attrType(f.Elem)}
	case crd.Set:
		return schema.SetAttribute{Description: d, Computed: true, ElementType: attrType(f.Elem)}
	case crd.Map:
		return schema.MapAttribute{Description: d, Computed: true, ElementType: attrType(f.Elem)}
	case crd.String, crd.Quantity, crd.JSON:
	}
	return schema.StringAttribute{Description: d, Required: required, Computed: !required, Sensitive: f.Secret}
}
