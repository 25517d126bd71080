package platform_test

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/gorizond/koldun/apis/crds"
	"github.com/gorizond/koldun/functions/platform"
)

// TestEveryFieldIsInTheTable walks the specs of all kinds, claims or not. A new field needs a row,
// and each row is about a field.
func TestEveryFieldIsInTheTable(t *testing.T) {
	table := platform.Table()
	used := make([]bool, len(table))
	for kind, fields := range specs(t) {
		for _, names := range fields {
			i := slices.IndexFunc(table, func(r platform.Row) bool { return r.Covers(kind, names) })
			if i < 0 {
				t.Errorf("%s: %s is in no row of functions/platform: say what it reaches, and who may set it", kind, strings.Join(names, "."))
				continue
			}
			used[i] = true
		}
	}
	for i, r := range table {
		if !used[i] {
			t.Errorf("no field is in the row %q", r.Fields)
		}
		if r.Reach == "" {
			t.Errorf("the row %q does not say what its fields reach", r.Fields)
		}
	}
}

// specs returns the fields of all kinds that have no fields themselves, as names without lists.
func specs(t *testing.T) map[string][][]string {
	t.Helper()
	files, err := fs.Glob(crds.Files, "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v of %d files", err, len(files))
	}
	out := map[string][][]string{}
	for _, file := range files {
		crd, err := crds.Definition(file)
		if err != nil {
			t.Fatal(err)
		}
		spec, ok := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		if ok {
			out[crd.Spec.Names.Kind] = leaves([]string{"spec"}, spec)
		}
	}
	return out
}

func leaves(names []string, s extv1.JSONSchemaProps) (out [][]string) {
	switch {
	case s.Items != nil:
		return leaves(names, *s.Items.Schema)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return leaves(append(slices.Clone(names), "*"), *s.AdditionalProperties.Schema)
	case len(s.Properties) == 0:
		return [][]string{names}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		out = append(out, leaves(append(slices.Clone(names), name), s.Properties[name])...)
	}
	return out
}
