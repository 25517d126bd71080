package crd

import (
	"io/fs"
	"strings"
	"testing"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/crds"
)

func TestSnake(t *testing.T) {
	for name, want := range map[string]string{
		"name": "name", "maxBytes": "max_bytes", "limitMarkerTTL": "limit_marker_ttl", "manifestSHA256": "manifest_sha256",
		"artifactUrl": "artifact_url", "sourceURL": "source_url", "preConvertedPVCName": "pre_converted_pvc_name",
		"chunkMaxMiB": "chunk_max_mib", "kvHeads": "kv_heads", "moeHiddenDim": "moe_hidden_dim", "sha256": "sha256", "deepspeed-mii": "deepspeed_mii",
	} {
		if got := Snake(name); got != want {
			t.Errorf("Snake(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestEveryKindIsReadable reads all CRDs and checks that no field is lost.
func TestEveryKindIsReadable(t *testing.T) {
	files, err := fs.Glob(crds.Files, "koldun*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, f := range files {
		group, plural, _ := strings.Cut(strings.TrimSuffix(f, ".yaml"), "_")
		if strings.HasPrefix(plural, "providerconfigusages") {
			continue // has no spec; Crossplane's own bookkeeping
		}
		k, err := Load(group, plural)
		if err != nil {
			t.Fatal(err)
		}
		fields := 0
		k.Spec.Walk("spec", func(path string, f *Field) {
			fields++
			if f.Description == "" && !strings.HasSuffix(path, "[*]") {
				t.Errorf("%s: %s has no description", k.Kind, path)
			}
			if f.Type == Object && len(f.Fields) == 0 {
				t.Errorf("%s: %s is an object without fields", k.Kind, path)
			}
		})
		t.Logf("%s: %d fields", k.Kind, fields)
	}
}

func TestWhatTerraformCannotExpressIsRefused(t *testing.T) {
	const head = "spec:\n  group: g\n  names: {kind: K, plural: ks}\n  versions:\n  - name: v1\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            type: object\n            properties:\n"
	for name, c := range map[string]struct{ fields, want string }{
		"Untyped":   {"              a: {}\n", `K.spec.a: type "" has no equal`},
		"Collision": {"              fooBar: {type: string}\n              foo_bar: {type: string}\n", `would both be "foo_bar"`},
		"Reserved":  {"              lifecycle: {type: string}\n", `"lifecycle" means something to Terraform itself`},
	} {
		t.Run(name, func(t *testing.T) {
			var d extv1.CustomResourceDefinition
			if err := yaml.Unmarshal([]byte(head+c.fields), &d); err != nil {
				t.Fatal(err)
			}
			_, err := kindOf(&d)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
