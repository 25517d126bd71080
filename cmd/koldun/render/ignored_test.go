package render

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/apis/validation"
)

// TestRenderNamesIgnoredFields tests that fields without effect are named, as the
// condition LegacyFields does in a cluster.
func TestRenderNamesIgnoredFields(t *testing.T) {
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[string]string{
		"{image: dllama, slot: 3}":     "# Worker default/w: FieldsIgnored: These fields are accepted and have no effect: spec.slot\n",
		"{image: dllama, nThreads: 3}": "",
	} {
		out, err := render(t, schemas, "", "apiVersion: koldun.gorizond.io/v1\nkind: Worker\nmetadata: {name: w, namespace: default}\nspec: "+spec+"\n")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(out, want) || want == "" && strings.Contains(out, "FieldsIgnored") {
			t.Errorf("%s is rendered as\n%s\nwant it to end with %q", spec, out, want)
		}
	}
}
