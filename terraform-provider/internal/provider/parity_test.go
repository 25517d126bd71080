package provider_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/crds"
	"github.com/gorizond/koldun/terraform-provider/internal/claim"
	"github.com/gorizond/koldun/terraform-provider/internal/managed"
	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
)

// withoutResource returns the kinds without a Terraform resource, and why.
func withoutResource() map[string]string {
	return map[string]string{
		"clusterproviderconfigs": "the provider block says how to connect",
		"providerconfigs":        "the provider block says how to connect",
		"providerconfigusages":   "Crossplane's own bookkeeping",
		"hubrevisions":           "observed for the functions: parse_model_ref and a pinned revision do without",
		"demands":                "observed for the functions, and changes every second",
		"parts":                  "composed for the status of a composite, which Terraform has as claims",
		"pools":                  "observed for the functions, and changes every second",
		"workloadstatuses":       "observed for the functions, and has nothing to manage",
		"tokensets":              "mirrors the Secrets of a namespace, which needs a process that always runs",
		"queues":                 "composed of streams and key-value buckets, which Terraform offers one by one",
	}
}

// TestEveryKindIsOffered requires a resource for each CRD, or a reason.
func TestEveryKindIsOffered(t *testing.T) {
	offered := map[string]bool{}
	for _, k := range managed.Kinds() {
		offered[k.Plural] = true
	}
	for _, k := range claim.Kinds() {
		offered[k.Plural] = true
	}
	files, err := fs.Glob(crds.Files, "koldun*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		_, plural, _ := strings.Cut(strings.TrimSuffix(f, ".yaml"), "_")
		if why := withoutResource()[plural]; offered[plural] == (why != "") {
			t.Errorf("%s: got resource %v and reason %q, want one of them", plural, offered[plural], why)
		}
	}
}

// TestParity compares each resource with its CRD, which it reads by other code:
// fields, which of them are required, immutable, secret or enumerations, and their
// defaults.
func TestParity(t *testing.T) {
	check := preflight.New()
	constructors := map[string]func() resource.Resource{}
	for i, k := range managed.Kinds() {
		constructors[k.Plural] = managed.Resources(check)[i]
	}
	for i, k := range claim.Kinds() {
		constructors[k.Plural] = claim.Resources(check)[i]
	}
	omitted, renamed := map[string][]string{}, map[string]map[string]string{}
	identity := map[string][]string{}
	fixed := map[string][]string{}
	for _, k := range claim.Kinds() {
		renamed[k.Plural] = k.Rename
	}
	for _, k := range managed.Kinds() {
		fixed[k.Plural] = k.Fixed
		omitted[k.Plural], identity[k.Plural] = k.Omit, k.Identity.All()
	}
	for plural, create := range constructors {
		t.Run(plural, func(t *testing.T) {
			var resp resource.SchemaResponse
			create().Schema(t.Context(), resource.SchemaRequest{}, &resp)
			if resp.Diagnostics.HasError() {
				t.Fatal(resp.Diagnostics)
			}
			if d := resp.Schema.ValidateImplementation(t.Context()); d.HasError() {
				t.Fatal(d)
			}
			p := parity{t: t, omitted: omitted[plural], renamed: renamed[plural], identity: identity[plural], fixed: fixed[plural]}
			spec, whole := specOf(t, plural)
			p.whole = whole
			p.object("spec", spec, resp.Schema.Attributes, true)
			if p.fields == 0 {
				t.Error("nothing was compared")
			}
			t.Logf("%d fields", p.fields)
		})
	}
}

func specOf(t *testing.T, plural string) (spec extv1.JSONSchemaProps, managed bool) {
	t.Helper()
	for _, group := range []string{"koldun.gorizond.io", "koldun.m.gorizond.io"} {
		raw, err := fs.ReadFile(crds.Files, group+"_"+plural+".yaml")
		if err != nil {
			continue
		}
		var d extv1.CustomResourceDefinition
		if err := yaml.Unmarshal(raw, &d); err != nil {
			t.Fatal(err)
		}
		spec := d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		if inner, ok := spec.Properties["forProvider"]; ok {
			return inner, true
		}
		return spec, false
	}
	t.Fatalf("no CRD %q", plural)
	return spec, false
}

type parity struct {
	t                 *testing.T
	whole             bool // defaults are Terraform's to fill in
	omitted, identity []string
	renamed           map[string]string
	fixed             []string // by a rule of the whole spec
	fields            int
}

// words makes names in YAML and Terraform comparable.
func words(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }

func (p *parity) object(path string, s extv1.JSONSchemaProps, attributes map[string]schema.Attribute, top bool) {
	p.t.Helper()
	byWords := map[string]string{}
	for name := range attributes {
		byWords[words(name)] = name
	}
	for field, c := range s.Properties {
		name, ok := byWords[words(field)]
		if other := p.renamed[field]; top && other != "" {
			name, ok = other, attributes[other] != nil
		}
		if contains(p.omitted, field) && top {
			if ok {
				p.t.Errorf("%s.%s is an attribute, but listed as omitted", path, field)
			}
			continue
		}
		if !ok {
			p.t.Errorf("%s.%s is no attribute", path, field)
			continue
		}
		p.fields++
		p.field(path+"."+field, name, c, attributes[name], contains(s.Required, field), top)
		delete(attributes, name)
	}
	if top {
		return // the rest are attributes of every resource
	}
	for name := range attributes {
		p.t.Errorf("%s: attribute %q is no field", path, name)
	}
}

func (p *parity) field(path, name string, s extv1.JSONSchemaProps, a schema.Attribute, required, top bool) {
	p.t.Helper()
	if want := required && s.Default == nil; a.IsRequired() != want {
		p.t.Errorf("%s: required %v, in the CRD %v", path, a.IsRequired(), want)
	}
	field := path[strings.LastIndex(path, ".")+1:]
	immutable := top && (contains(p.identity, name) || contains(p.fixed, field))
	for _, r := range s.XValidations {
		immutable = immutable || r.Rule == "self == oldSelf"
	}
	if got := replaces(p.t, a); got != immutable {
		p.t.Errorf("%s: a change replaces the resource %v, immutable in the CRD %v", path, got, immutable)
	}
	for _, e := range s.Enum {
		if v := strings.Trim(string(e.Raw), `"`); v != "" && !strings.Contains(a.GetDescription(), "`"+v+"`") {
			p.t.Errorf("%s: %s is not described", path, v)
		}
	}
	if s.Default != nil && !contains([]string{"{}", "[]", `""`}, string(s.Default.Raw)) { // an empty default needs no documentation
		v := strings.Trim(string(s.Default.Raw), `"`)
		if !strings.Contains(strings.ReplaceAll(a.GetDescription(), " ", ""), strings.ReplaceAll("Default:`"+v+"`", " ", "")) {
			p.t.Errorf("%s: the default %s is not described: %s", path, v, a.GetDescription())
		}
		if a.IsComputed() != p.whole {
			p.t.Errorf("%s: computed %v, want %v", path, a.IsComputed(), p.whole)
		}
	}
	if got, want := a.IsSensitive(), s.Format == "password"; got != want {
		p.t.Errorf("%s: sensitive %v, want %v", path, got, want)
	}
	switch x := a.(type) {
	case schema.SingleNestedAttribute:
		p.object(path, s, clone(x.Attributes), false)
	case schema.ListNestedAttribute:
		p.object(path+"[*]", *s.Items.Schema, clone(x.NestedObject.Attributes), false)
	}
}

// replaces reports whether a change of the attribute replaces the resource.
func replaces(t *testing.T, a schema.Attribute) bool {
	t.Helper()
	var texts []string
	switch x := a.(type) {
	case schema.StringAttribute:
		for _, m := range x.PlanModifiers {
			texts = append(texts, m.Description(t.Context()))
		}
	case schema.Int64Attribute:
		for _, m := range x.PlanModifiers {
			texts = append(texts, m.Description(t.Context()))
		}
	case schema.BoolAttribute:
		for _, m := range x.PlanModifiers {
			texts = append(texts, m.Description(t.Context()))
		}
	case schema.ListAttribute:
		for _, m := range x.PlanModifiers {
			texts = append(texts, m.Description(t.Context()))
		}
	case schema.MapAttribute:
		for _, m := range x.PlanModifiers {
			texts = append(texts, m.Description(t.Context()))
		}
	case schema.SingleNestedAttribute:
		for _, m := range x.PlanModifiers {
			texts = append(texts, m.Description(t.Context()))
		}
	}
	return strings.Contains(strings.Join(texts, " "), "destroy and recreate")
}

func clone(in map[string]schema.Attribute) map[string]schema.Attribute {
	out := map[string]schema.Attribute{}
	for k, v := range in {
		out[k] = v
	}
	return out
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// TestXRDsAreOfTheSameSchema compares the fields of the XRDs in the packages with
// those of the CRDs, from which resources are derived.
func TestXRDsAreOfTheSameSchema(t *testing.T) {
	for _, flavour := range []string{"configuration", "configuration-claims"} {
		for _, k := range claim.Kinds() {
			raw, err := os.ReadFile(filepath.Join("../../../package", flavour, k.Plural, "definition.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			var d struct {
				Spec struct {
					Versions []struct {
						Schema struct {
							OpenAPIV3Schema extv1.JSONSchemaProps `json:"openAPIV3Schema"`
						} `json:"schema"`
					} `json:"versions"`
				} `json:"spec"`
			}
			if err := yaml.Unmarshal(raw, &d); err != nil {
				t.Fatal(err)
			}
			want, _ := specOf(t, k.Plural)
			got := d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
			if g, w := paths("spec", got), paths("spec", want); strings.Join(g, "\n") != strings.Join(w, "\n") {
				t.Errorf("%s/%s: the XRD has %d fields, the CRD %d", flavour, k.Plural, len(g), len(w))
			}
		}
	}
}

func paths(path string, s extv1.JSONSchemaProps) []string {
	out := []string{path + " " + s.Type}
	for name, c := range s.Properties {
		out = append(out, paths(path+"."+name, c)...)
	}
	if s.Items != nil && s.Items.Schema != nil {
		out = append(out, paths(path+"[*]", *s.Items.Schema)...)
	}
	sort.Strings(out)
	return out
}
