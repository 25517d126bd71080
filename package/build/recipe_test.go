package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const description = "apiVersion: meta.pkg.crossplane.io/v1\nkind: Configuration\nmetadata: {name: a}\n"

func unchanged(text string) string { return text }

func TestObjects(t *testing.T) {
	root := rootOf(t, map[string]string{"crossplane.yaml": description, "x/z.yaml": "kind: CompositeResourceDefinition", "x/a.yaml": "kind: Composition", "x/key.pem": "x"})
	r := recipe{meta: "crossplane.yaml", files: "x/*.yaml"}
	got, err := r.objects(root, unchanged)
	if want := "---\n" + description + "---\nkind: Composition\n---\nkind: CompositeResourceDefinition\n"; err != nil || string(got) != want {
		t.Errorf("the package is %q, %v, want %q", got, err, want)
	}
}

func TestObjectsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"NoDescription": {map[string]string{"x/a.yaml": "kind: Composition"}, "crossplane.yaml"},
		"NoPackage":     {map[string]string{"crossplane.yaml": "apiVersion: v1\nkind: Secret", "x/a.yaml": "kind: Composition"}, "not the description"},
		"ForeignKind":   {map[string]string{"crossplane.yaml": description, "x/a.yaml": "kind: Secret"}, "must not hold a Secret"},
		"NoObjects":     {map[string]string{"crossplane.yaml": description}, "no file matches"},
		"NoYAML":        {map[string]string{"crossplane.yaml": description, "x/a.yaml": "{"}, "cannot read"},
	} {
		t.Run(name, func(t *testing.T) {
			r := recipe{meta: "crossplane.yaml", files: "x/*.yaml"}
			if _, err := r.objects(rootOf(t, c.files), unchanged); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

func rootOf(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
