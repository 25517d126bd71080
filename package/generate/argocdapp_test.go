package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestArgoCDGivesTheRightsOfInstall reads the example as Argo CD does: rights that it
// lacked would keep Models and Ingresses of Dllamas from being created.
func TestArgoCDGivesTheRightsOfInstall(t *testing.T) {
	read := func(file string) map[string]string {
		raw, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, document := range strings.Split(string(raw), "\n---\n") {
			var o map[string]any
			if err := yaml.Unmarshal([]byte(document), &o); err != nil {
				t.Fatal(err)
			}
			meta, ok := o["metadata"].(map[string]any)
			if !ok {
				t.Fatalf("%s: an object has no metadata: %v", file, o)
			}
			name, _ := meta["name"].(string)
			kind, _ := o["kind"].(string)
			annotations, _ := meta["annotations"].(map[string]any)
			if file == argocdApp && annotations["argocd.argoproj.io/sync-wave"] != "-2" {
				t.Errorf("%s %q is in wave %v, want -2", kind, name, annotations["argocd.argoproj.io/sync-wave"])
			}
			delete(o, "metadata")
			rest, err := yaml.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			out[kind+" "+name] = string(rest)
		}
		return out
	}
	want, got := read("package/install.yaml"), read(argocdApp)
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s differs; run make generate. It is:\n%s\nwant:\n%s", name, got[name], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the example has %d objects, want %d", len(got), len(want))
	}
}
