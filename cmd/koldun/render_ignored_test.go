package main

import (
	"bytes"
	"os"
	"path/filepath"
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
		file := filepath.Join(t.TempDir(), "claim.yaml")
		claim := "apiVersion: koldun.gorizond.io/v1\nkind: Worker\nmetadata: {name: w, namespace: default}\nspec: " + spec + "\n"
		if err := os.WriteFile(file, []byte(claim), 0o600); err != nil {
			t.Fatal(err)
		}
		claims, err := readClaims(t.Context(), schemas, []string{file})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := newRenderer(schemas, "koldun:test", &out).renderAll(t.Context(), claims); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(out.String(), want) || want == "" && strings.Contains(out.String(), "FieldsIgnored") {
			t.Errorf("%s is rendered as\n%s\nwant it to end with %q", spec, out.String(), want)
		}
	}
}
