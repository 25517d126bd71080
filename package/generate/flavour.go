package main

import (
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// functionName is the name that Crossplane gives the Function when it installs
// it as a dependency: its repository as a DNS label.
const functionName = "gorizond-koldun-function"

// A flavour is one of the two configuration packages. Both serve the same kinds
// to users.
type flavour struct {
	folder string
	claims bool
}

func flavours() []flavour {
	return []flavour{{folder: "configuration"}, {folder: "configuration-claims", claims: true}}
}

type object = map[string]any

// The label of Compositions, and so of their revisions, that selects a channel of
// versions, and the channel of the packages in this repository.
const (
	channelLabel  = group + "/channel"
	channelStable = "stable"
)

// claimed reports whether users write claims of a kind: cluster-scoped kinds have
// none, and are the same in both flavours.
func (f flavour) claimed(crd extv1.CustomResourceDefinition) bool {
	return f.claims && crd.Spec.Scope == extv1.NamespaceScoped
}

// definition returns the XRD of a kind. Crossplane derives the CRDs from it and
// keeps only properties, required fields and rules at the top of spec and
// status, so the schema uses nothing else there.
func (f flavour) definition(crd extv1.CustomResourceDefinition) object {
	version := crd.Spec.Versions[0]
	spec := object{
		"group":                 crd.Spec.Group,
		"defaultCompositionRef": object{"name": compositionName(crd)},
		// Objects without a channel follow the stable one.
		"defaultCompositionRevisionSelector": object{"matchLabels": object{channelLabel: channelStable}},
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
	spec["names"], spec["scope"] = served(names), string(crd.Spec.Scope)
	if f.claimed(crd) {
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
		"metadata":   object{"name": f.plural(crd) + "." + crd.Spec.Group},
		"spec":       spec,
	}
}

// composition returns the only Composition of a kind, whose only step is the
// Function.
func (f flavour) composition(crd extv1.CustomResourceDefinition) object {
	return object{
		"apiVersion": "apiextensions.crossplane.io/v1",
		"kind":       "Composition",
		"metadata":   object{"name": compositionName(crd), "labels": object{channelLabel: channelStable}},
		"spec": object{
			"compositeTypeRef": object{"apiVersion": crd.Spec.Group + "/" + crd.Spec.Versions[0].Name, "kind": f.kind(crd)},
			"mode":             "Pipeline",
			"pipeline":         []any{object{"step": "koldun", "functionRef": object{"name": functionName}}},
		},
	}
}

// compositionName is equal in both flavours, so that Crossplane refuses to
// install both.
func compositionName(crd extv1.CustomResourceDefinition) string {
	return crd.Spec.Names.Plural + "." + crd.Spec.Group
}

func (f flavour) plural(crd extv1.CustomResourceDefinition) string {
	if f.claimed(crd) {
		return "x" + crd.Spec.Names.Plural
	}
	return crd.Spec.Names.Plural
}

func (f flavour) kind(crd extv1.CustomResourceDefinition) string {
	if f.claimed(crd) {
		return "X" + crd.Spec.Names.Kind
	}
	return crd.Spec.Names.Kind
}

// served returns the names of the kind that users write.
func served(n extv1.CustomResourceDefinitionNames) object {
	return object{"kind": n.Kind, "listKind": n.ListKind, "plural": n.Plural, "singular": n.Singular, "shortNames": n.ShortNames, "categories": n.Categories}
}

// composite returns the names of the composite of a claim.
func composite(n extv1.CustomResourceDefinitionNames) object {
	return object{"kind": "X" + n.Kind, "listKind": "X" + n.ListKind, "plural": "x" + n.Plural, "singular": "x" + n.Singular, "categories": n.Categories}
}

// schema returns the schema of an XRD by that of a CRD. Crossplane adds the
// conditions.
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
