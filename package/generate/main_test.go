package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xpextv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/functions/reason"
)

const root = "../.."

func TestGeneratedFilesAreCurrent(t *testing.T) {
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Errorf("cannot read %s: %v; run make generate", name, err)
			continue
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is not what make generate writes (-want +got):\n%s", name, diff)
		}
	}
}

// TestHealthScriptListsFinalReasons holds that the health script reports Degraded
// for the reasons that reason.Final reports, and for no other.
func TestHealthScriptListsFinalReasons(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, "package", "argocd", group, "Model", "health.lua"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(root, "docs", "reference", "reasons.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` ").FindAllStringSubmatch(string(list), -1) {
		if listed := strings.Contains(string(script), "\n  "+m[1]+" = true,\n"); listed != reason.Final(m[1]) {
			t.Errorf("the script lists %s: %v, and it is final: %v", m[1], listed, reason.Final(m[1]))
		}
	}
}

// TestDefinitionsBecomeValidCRDs converts the XRDs as Crossplane and the API server
// do, and checks that the conversion loses nothing.
func TestDefinitionsBecomeValidCRDs(t *testing.T) {
	crds, err := readCRDs(filepath.Join(root, "apis", "crds"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range flavours() {
		for _, crd := range crds {
			t.Run(f.folder+"/"+crd.Spec.Names.Kind, func(t *testing.T) {
				raw, err := yaml.Marshal(f.definition(*crd.DeepCopy()))
				if err != nil {
					t.Fatal(err)
				}
				var xrd xpextv1.CompositeResourceDefinition
				if err := yaml.UnmarshalStrict(raw, &xrd); err != nil {
					t.Fatal(err)
				}
				derived, err := xcrd.ForCompositeResource(&xrd)
				if err != nil {
					t.Fatal(err)
				}
				check(t, derived, crd)
				if !f.claimed(crd) {
					return
				}
				claim, err := xcrd.ForCompositeResourceClaim(&xrd)
				if err != nil {
					t.Fatal(err)
				}
				check(t, claim, crd)
			})
		}
	}
}

func check(t *testing.T, derived *extv1.CustomResourceDefinition, source extv1.CustomResourceDefinition) {
	t.Helper()
	derived.OwnerReferences, derived.Status.StoredVersions = nil, []string{"v1"}
	extv1.SetDefaults_CustomResourceDefinition(derived)
	extv1.SetDefaults_CustomResourceDefinitionSpec(&derived.Spec)
	var internal apiextensions.CustomResourceDefinition
	if err := extv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(derived, &internal, nil); err != nil {
		t.Fatal(err)
	}
	for _, err := range validation.ValidateCustomResourceDefinition(t.Context(), &internal) {
		t.Errorf("the API server would refuse the CRD: %v", err)
	}
	want, got := source.Spec.Versions[0], derived.Spec.Versions[0]
	wantSpec, gotSpec := want.Schema.OpenAPIV3Schema.Properties["spec"], got.Schema.OpenAPIV3Schema.Properties["spec"]
	for name, p := range wantSpec.Properties {
		if diff := cmp.Diff(asJSON(t, p), asJSON(t, gotSpec.Properties[name])); diff != "" {
			t.Errorf("spec.%s changed in the conversion (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(wantSpec.XValidations, gotSpec.XValidations); diff != "" {
		t.Errorf("rules of spec changed in the conversion (-want +got):\n%s", diff)
	}
	for _, r := range wantSpec.Required {
		if !slices.Contains(gotSpec.Required, r) {
			t.Errorf("spec.%s is no longer required", r)
		}
	}
	// The schema must not contain fields that Crossplane drops.
	if wantSpec.Default != nil || wantSpec.AnyOf != nil || wantSpec.AllOf != nil || wantSpec.Not != nil || wantSpec.MinProperties != nil {
		t.Error("spec has a default, anyOf, allOf, not or minProperties, which Crossplane drops")
	}
	for _, c := range got.AdditionalPrinterColumns {
		if n := strings.Count(columns(got), "|"+strings.ToLower(c.Name)+"|"); n != 1 {
			t.Errorf("got column %q %d times", c.Name, n)
		}
	}
}

func columns(v extv1.CustomResourceDefinitionVersion) string {
	out := "|"
	for _, c := range v.AdditionalPrinterColumns {
		out += "|" + strings.ToLower(c.Name) + "|"
	}
	return out
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
