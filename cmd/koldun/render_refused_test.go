package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/apis/validation"
)

// TestRenderByConfig tests that claims whose model cannot run are refused by its
// config.json.
func TestRenderByConfig(t *testing.T) {
	const small = `{"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":128,"max_position_embeddings":256}`
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config, spec string
		says         string // empty: it is rendered
	}{
		"Fits":         {small, "replicaPower: 1", ""},
		"TooManyNodes": {small, "replicaPower: 2", "spec.replicaPower: cannot spread the model onto 4 nodes"},
		"NoConfig":     {"", "replicaPower: 2", ""},
		"Memory":       {small, "rootImage: dllama, rootResources: {limits: {memory: 1Ki}}", "the root needs"},
		"Architecture": {`{"model_type":"bert"}`, "replicaPower: 0", `model_type is "bert"`},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "claim.yaml")
			claim := "apiVersion: koldun.gorizond.io/v1\nkind: Dllama\nmetadata: {name: d, namespace: default}\nspec: {model: {sourceUrl: hf://a/b}, " + c.spec + "}\n"
			if err := os.WriteFile(file, []byte(claim), 0o600); err != nil {
				t.Fatal(err)
			}
			claims, err := readClaims(t.Context(), schemas, []string{file})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			r := newRenderer(schemas, "koldun:test", &out)
			r.config = c.config
			err = r.renderAll(t.Context(), claims)
			if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if jobs := strings.Count(out.String(), "kind: Job"); (jobs == 0) != (c.says != "") {
				t.Errorf("%d Jobs are rendered", jobs)
			}
		})
	}
}
