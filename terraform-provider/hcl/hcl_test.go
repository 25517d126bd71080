package hcl_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/gorizond/koldun/terraform-provider/hcl"
	"github.com/gorizond/koldun/terraform-provider/internal/claim"
	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

func TestWriteClaim(t *testing.T) {
	var out strings.Builder
	err := hcl.WriteClaim(&out, map[string]any{
		"apiVersion": "koldun.gorizond.io/v1", "kind": "Model",
		"metadata": map[string]any{"name": "1-m", "labels": map[string]any{"a.b/c": "${d}"}},
		"spec": map[string]any{
			"sourceUrl": "hf://org/repo", "replicaPower": int64(1), "launchOptions": []any{"--nthreads", "2"},
			"download":   map[string]any{"memory": "1Gi", "chunkMaxMiB": int64(64)},
			"pv":         map[string]any{"volumeAttributes": map[string]any{"a-b": "c"}},
			"scheduling": map[string]any{"tolerations": []any{map[string]any{"key": "gpu", "tolerationSeconds": int64(5)}}},
		},
	}, []string{"lost: spec.x: it\nhas none"}, hcl.Addresses{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `# lost: spec.x: it has none
resource "koldun_model" "_1-m" {
  name = "1-m"
  labels = {
    "a.b/c" = "$${d}"
  }
  download = {
    chunk_max_mib = 64
    memory        = "1Gi"
  }
  launch_options = ["--nthreads", "2"]
  pv = {
    volume_attributes = {
      "a-b" = "c"
    }
  }
  replica_power = 1
  scheduling = {
    tolerations = [{
      key                = "gpu"
      toleration_seconds = 5
    }]
  }
  source_url = "hf://org/repo"
}

import {
  to = koldun_model._1-m
  id = "default/1-m"
}

`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if err := hcl.WriteClaim(&out, map[string]any{"apiVersion": "v1", "kind": "Secret"}, nil, hcl.Addresses{}); err == nil {
		t.Error("a Secret is written as a resource")
	}
}

// TestResourceNames holds that the names are those of the provider.
func TestResourceNames(t *testing.T) {
	for _, k := range claim.Kinds() {
		c, err := crd.Load(crd.Composite, k.Plural)
		if err != nil {
			t.Fatal(err)
		}
		if got := hcl.ResourceName(c.Kind); got != k.Name {
			t.Errorf("%s is %q, want %q", c.Kind, got, k.Name)
		}
		if got := hcl.Renamed(c.Kind); !maps.Equal(got, k.Rename) {
			t.Errorf("%s renames %v, want %v", c.Kind, got, k.Rename)
		}
	}
}
