package main

import (
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// functionName is the name under which Crossplane installs our Function as a
// dependency: its repository, as a DNS label.
const functionName = "gorizond-koldun-function"

// A flavour is one of the two configuration packages. Both serve the same
// kinds to people.
type flavour struct {
	folder string
	claims bool
}

func flavours() []flavour {
	return []flavour{{folder: "configuration"}, {folder: "configuration-claims", claims: true}}
}

type object = map[string]any

// definition is the XRD of a kind. Crossplane derives the CRDs from it, and
// drops what it does not know from the top of spec and status: the schema
// holds nothing there but properties, required fields and rules.
func (f flavour) definition(crd extv1.CustomResourceDefinition) object {
	version := crd.Spec.Versions[0]
	spec := object{
		"group":                 crd.Spec.Group,
		"defaultCompositionRef": object{"name": compositionName(crd)},
		"versions": []any{object{
			"name":                     version.Name,
			"served":                   true,
			"referenceable":            true,
			"schema":                   object{"openAPIV3Schema": schema(version.Schema.OpenAPIV3Schema)},
			"additionalPrinterColumns": version.AdditionalPrinterColumns,
		}},
	}
	names := crd.Spec.Names
	apiVersion := "apiextensions.crossplane.io/v2"
	spec["names"], spec["scope"] = served(names), "Namespaced"
	if f.claims {
		apiVersion = "apiextensions.crossplane.io/v1"
		spec["names"], spec["scope"] = composite(names), "LegacyCluster"
		spec["claimNames"] = served(names)
	}
	if version.Subresources != nil && version.Subresources.Scale != nil {
		spec["versions"].([]any)[0].(object)["subresources"] = object{"scale": version.Subresources.Scale}
	}
	return object{
		"apiVersion": apiVersion,
		"kind":       "CompositeResourceDefinition",
		"metadata":   object{"name": f.plural(names) + "." + crd.Spec.Group},
		"spec":       spec,
	}
}

// composition is the only Composition of a kind: our Function does it all.
func (f flavour) composition(crd extv1.CustomResourceDefinition) object {
	return object{
		"apiVersion": "apiextensions.crossplane.io/v1",
		"kind":       "Composition",
		"metadata":   object{"name": compositionName(crd)},
		"spec": object{
			"compositeTypeRef": object{"apiVersion": crd.Spec.Group + "/" + crd.Spec.Versions[0].Name, "kind": f.kind(crd.Spec.Names)},
			"mode":             "Pipeline",
			"pipeline":         []any{object{"step": "koldun", "functionRef": object{"name": functionName}}},
		},
	}
}

// compositionName is the same in both flavours, so that Crossplane refuses to
// install the second one beside the first: the names are taken.
func compositionName(crd extv1.CustomResourceDefinition) string {
	return crd.Spec.Names.Plural + "." + crd.Spec.Group
}

func (f flavour) plural(n extv1.CustomResourceDefinitionNames) string {
	if f.claims {
		return "x" + n.Plural
	}
	return n.Plural
}

func (f flavour) kind(n extv1.CustomResourceDefinitionNames) string {
	if f.claims {
		return "X" + n.Kind
	}
	return n.Kind
}

// served are the names that people use.
func served(n extv1.CustomResourceDefinitionNames) object {
	return object{"kind": n.Kind, "listKind": n.ListKind, "plural": n.Plural, "singular": n.Singular, "shortNames": n.ShortNames, "categories": n.Categories}
}

// composite are the names of what Crossplane makes of a claim.
func composite(n extv1.CustomResourceDefinitionNames) object {
	return object{"kind": "X" + n.Kind, "listKind": "X" + n.ListKind, "plural": "x" + n.Plural, "singular": "x" + n.Singular, "categories": n.Categories}
}

// schema is what an XRD holds of a CRD's schema. Conditions are Crossplane's.
func schema(s *extv1.JSONSchemaProps) object {
	spec, status := s.Properties["spec"], s.Properties["status"]
	delete(status.Properties, "conditions")
	return object{
		"type":        "object",
		"description": s.Description,
		"properties":  object{"spec": part(spec), "status": part(status)},
	}
}

func part(s extv1.JSONSchemaProps) object {
	out := object{"type": "object", "description": s.Description, "properties": s.Properties}
	if len(s.Required) > 0 {
		out["required"] = s.Required
	}
	if len(s.XValidations) > 0 {
		out["x-kubernetes-validations"] = s.XValidations
	}
	return out
}
