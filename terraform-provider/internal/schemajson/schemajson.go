// Package schemajson exports the schemas of a provider as the command "terraform
// providers schema -json" does (format version 1.0), without a CLI. The
// generator of the documentation reads it.
package schemajson

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

type object = map[string]any

// Export returns the schemas of a provider. name is the provider's short name.
func Export(ctx context.Context, server tfprotov6.ProviderServer, name string) ([]byte, error) {
	s, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return nil, fmt.Errorf("cannot export schemas: %w", err)
	}
	for _, d := range s.Diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			return nil, errors.New("cannot export schemas: " + d.Summary + ": " + d.Detail)
		}
	}
	ids, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		return nil, fmt.Errorf("cannot export identities: %w", err)
	}
	one := object{
		"provider":                   schema(s.Provider),
		"resource_schemas":           schemas(s.ResourceSchemas),
		"data_source_schemas":        schemas(s.DataSourceSchemas),
		"ephemeral_resource_schemas": schemas(s.EphemeralResourceSchemas),
		"functions":                  functions(s.Functions),
		"resource_identity_schemas":  identities(ids.IdentitySchemas),
	}
	return json.MarshalIndent(object{"format_version": "1.0", "provider_schemas": object{name: one}}, "", "  ")
}

func schemas(in map[string]*tfprotov6.Schema) object {
	out := object{}
	for name, s := range in {
		out[name] = schema(s)
	}
	return out
}

func schema(s *tfprotov6.Schema) object {
	return object{"version": s.Version, "block": object{
		"attributes": attributes(s.Block.Attributes), "description": s.Block.Description, "description_kind": "markdown",
	}}
}

func attributes(in []*tfprotov6.SchemaAttribute) object {
	out := object{}
	for _, a := range in {
		o := object{"description": a.Description, "description_kind": "markdown"}
		for flag, on := range map[string]bool{
			"required": a.Required, "optional": a.Optional, "computed": a.Computed, "sensitive": a.Sensitive, "deprecated": a.Deprecated, "write_only": a.WriteOnly,
		} {
			if on {
				o[flag] = true
			}
		}
		if a.NestedType != nil {
			o["nested_type"] = object{"attributes": attributes(a.NestedType.Attributes), "nesting_mode": nesting(a.NestedType.Nesting)}
		} else {
			o["type"] = typ(a.Type)
		}
		out[a.Name] = o
	}
	return out
}

func nesting(n tfprotov6.SchemaObjectNestingMode) string {
	switch n {
	case tfprotov6.SchemaObjectNestingModeList:
		return "list"
	case tfprotov6.SchemaObjectNestingModeSet:
		return "set"
	case tfprotov6.SchemaObjectNestingModeMap:
		return "map"
	case tfprotov6.SchemaObjectNestingModeSingle, tfprotov6.SchemaObjectNestingModeInvalid:
	}
	return "single"
}

// typ returns a type in Terraform's JSON form.
func typ(t tftypes.Type) any {
	switch x := t.(type) {
	case tftypes.List:
		return []any{"list", typ(x.ElementType)}
	case tftypes.Set:
		return []any{"set", typ(x.ElementType)}
	case tftypes.Map:
		return []any{"map", typ(x.ElementType)}
	case tftypes.Object:
		fields := object{}
		for k, a := range x.AttributeTypes {
			fields[k] = typ(a)
		}
		return []any{"object", fields}
	}
	switch {
	case t.Is(tftypes.Bool):
		return "bool"
	case t.Is(tftypes.Number):
		return "number"
	case t.Is(tftypes.DynamicPseudoType):
		return "dynamic"
	}
	return "string"
}

func functions(in map[string]*tfprotov6.Function) object {
	out := object{}
	for name, f := range in {
		var parameters []any
		for _, p := range f.Parameters {
			parameters = append(parameters, object{"name": p.Name, "description": p.Description, "is_nullable": p.AllowNullValue, "type": typ(p.Type)})
		}
		out[name] = object{"description": f.Description, "summary": f.Summary, "return_type": typ(f.Return.Type), "parameters": parameters}
	}
	return out
}

func identities(in map[string]*tfprotov6.ResourceIdentitySchema) object {
	out := object{}
	for name, s := range in {
		fields := object{}
		for _, a := range s.IdentityAttributes {
			fields[a.Name] = object{"type": typ(a.Type), "description": a.Description, "required_for_import": a.RequiredForImport, "optional_for_import": a.OptionalForImport}
		}
		out[name] = object{"version": s.Version, "attributes": fields}
	}
	return out
}
