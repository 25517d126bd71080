package cluster_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/crds"
	"github.com/gorizond/koldun/test/cluster"
)

const functionName = "koldun-function"

// install applies the rights, the XRD and the Composition of each kind, and
// the CRDs of the managed resources.
func install(t *testing.T, c *cluster.Cluster, kinds ...string) {
	t.Helper()
	rights, err := os.ReadFile("testdata/rights.yaml")
	if err != nil {
		t.Fatal(err)
	}
	manifests := []string{string(rights)}
	files, err := fs.Glob(crds.Files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		raw, err := crds.Files.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(f, "koldun.m.gorizond.io_") {
			manifests = append(manifests, string(raw))
			continue
		}
		for _, kind := range kinds {
			manifests = append(manifests, definition(t, raw, kind)...)
		}
	}
	if err := c.Apply(t.Context(), manifests...); err != nil {
		t.Fatal(err)
	}
}

// definition returns the XRD with the schema of the CRD and its Composition, if the CRD
// is of that kind.
func definition(t *testing.T, crd []byte, kind string) []string {
	t.Helper()
	// All names, because they are immutable and other tests install the package's definitions.
	type names struct {
		Kind       string   `json:"kind"`
		ListKind   string   `json:"listKind"`
		Plural     string   `json:"plural"`
		Singular   string   `json:"singular"`
		ShortNames []string `json:"shortNames,omitempty"`
		Categories []string `json:"categories,omitempty"`
	}
	type version struct {
		Name          string `json:"name"`
		Served        bool   `json:"served"`
		Referenceable bool   `json:"referenceable"`
		Schema        any    `json:"schema"`
	}
	type spec struct {
		Scope    string    `json:"scope"`
		Group    string    `json:"group"`
		Names    names     `json:"names"`
		Versions []version `json:"versions"`
	}
	type object struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       any            `json:"spec"`
	}
	var in struct{ Spec spec }
	if err := yaml.Unmarshal(crd, &in); err != nil {
		t.Fatal(err)
	}
	if in.Spec.Names.Kind != kind {
		return nil
	}
	for i := range in.Spec.Versions {
		in.Spec.Versions[i].Referenceable = true
	}
	name := map[string]any{"name": in.Spec.Names.Plural + "." + in.Spec.Group}
	composition := map[string]any{
		"compositeTypeRef": map[string]any{"apiVersion": in.Spec.Group + "/v1", "kind": kind},
		"mode":             "Pipeline",
		"pipeline":         []any{map[string]any{"step": "compose", "functionRef": map[string]any{"name": functionName}}},
	}
	var out []string
	for _, o := range []object{
		{"apiextensions.crossplane.io/v2", "CompositeResourceDefinition", name, in.Spec},
		{"apiextensions.crossplane.io/v1", "Composition", name, composition},
	} {
		raw, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(raw))
	}
	return out
}
