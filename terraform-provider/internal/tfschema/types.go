// Package tfschema derives Terraform schemas from the fields that package crd
// reads, and converts values between JSON and Terraform.
package tfschema

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// Type returns the wire type of a field's values.
func Type(f *crd.Field) tftypes.Type {
	switch f.Type {
	case crd.Integer, crd.Number:
		return tftypes.Number
	case crd.Bool:
		return tftypes.Bool
	case crd.List:
		return tftypes.List{ElementType: Type(f.Elem)}
	case crd.Set:
		return tftypes.Set{ElementType: Type(f.Elem)}
	case crd.Map:
		return tftypes.Map{ElementType: Type(f.Elem)}
	case crd.Object:
		return tftypes.Object{AttributeTypes: childTypes(f)}
	case crd.String, crd.Quantity, crd.JSON:
	}
	return tftypes.String
}

func childTypes(f *crd.Field) map[string]tftypes.Type {
	out := make(map[string]tftypes.Type, len(f.Fields))
	for _, c := range f.Fields {
		out[c.Attribute] = Type(c)
	}
	return out
}

// attrType returns the framework's type of a field's values.
func attrType(f *crd.Field) attr.Type {
	switch f.Type {
	case crd.Integer:
		return types.Int64Type
	case crd.Number:
		return types.Float64Type
	case crd.Bool:
		return types.BoolType
	case crd.List:
		return types.ListType{ElemType: attrType(f.Elem)}
	case crd.Set:
		return types.SetType{ElemType: attrType(f.Elem)}
	case crd.Map:
		return types.MapType{ElemType: attrType(f.Elem)}
	case crd.Object:
		out := map[string]attr.Type{}
		for _, c := range f.Fields {
			out[c.Attribute] = attrType(c)
		}
		return types.ObjectType{AttrTypes: out}
	case crd.String, crd.Quantity, crd.JSON:
	}
	return types.StringType
}
