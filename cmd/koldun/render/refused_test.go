package render

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/cmd/koldun/claims"
	"github.com/gorizond/koldun/internal/fault"
)

// TestRenderByConfig tests that claims whose model cannot run are refused by its
// config.json.
func TestRenderByConfig(t *testing.T) {
	const small = `{"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":128,"max_position_embeddings":256}`
	const volume = "model: {preConverted: true, preConvertedPVCName: c}"
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

		"VolumeFits":         {small, "replicaPower: 1, " + volume, ""},
		"VolumeTooManyNodes": {small, "replicaPower: 2, " + volume, "spec.replicaPower: cannot spread the model onto 4 nodes"},
		"VolumeNoConfig":     {"", "replicaPower: 2, " + volume, ""},
		"VolumeMemory":       {small, "rootImage: dllama, rootResources: {limits: {memory: 1Ki}}, " + volume, "the root needs"},
		"VolumeSize":         {"", "rootImage: dllama, rootResources: {limits: {memory: 1Gi}}, model: {preConverted: true, preConvertedPVCName: c, preConvertedSizeBytes: 6743000000}", "at least 7 nodes are needed"},
		"VolumeArchitecture": {`{"model_type":"bert"}`, volume, `model_type is "bert"`},
	} {
		t.Run(name, func(t *testing.T) {
			spec := c.spec
			if !strings.Contains(spec, "model:") {
				spec = "model: {sourceUrl: hf://a/b}, " + spec
			}
			out, err := render(t, schemas, c.config, "apiVersion: koldun.gorizond.io/v1\nkind: Dllama\nmetadata: {name: d, namespace: default}\nspec: {"+spec+"}\n")
			if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			// Nothing is downloaded or converted for a claim that is refused.
			if jobs := strings.Count(out, "- fetch\n") + strings.Count(out, "- inspect\n"); c.says == "" && jobs == 0 || c.says != "" && strings.Contains(out, "- fetch\n") {
				t.Errorf("%d Jobs are rendered", jobs)
			}
		})
	}
}

// TestRenderGoesOn tests that all claims of a file are rendered, and that the errors of all
// that are refused are told.
func TestRenderGoesOn(t *testing.T) {
	const file = `apiVersion: koldun.gorizond.io/v1
kind: Model
metadata: {name: wrong}
spec: {sourceUrl: 's3://bucket/x'}
---
apiVersion: koldun.gorizond.io/v1
kind: Dllama
metadata: {name: on-wrong}
spec: {modelRef: {name: wrong}}
---
apiVersion: koldun.gorizond.io/v1
kind: Dllama
metadata: {name: nodes}
spec: {model: {sourceUrl: hf://a/b}, engine: {type: embedded}, nodes: 2}
---
apiVersion: koldun.gorizond.io/v1
kind: Dllama
metadata: {name: right}
spec: {model: {sourceUrl: hf://a/b}}
`
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	out, err := render(t, schemas, "", file)
	if fault.ExitCode(err) != fault.ExitCode(fault.Errorf(fault.Invalid, "x")) {
		t.Errorf("exit status %d of %v", fault.ExitCode(err), err)
	}
	for _, want := range []string{"/wrong: SourceInvalid: spec.sourceUrl", `/on-wrong: ModelFailed: Model "wrong"`, "/nodes: TopologyInvalid: spec.nodes"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	if !strings.Contains(out, "name: right-root") || strings.Contains(fmt.Sprint(err), "/right") {
		t.Errorf("the claim that is right is not rendered: %v", err)
	}
}

// TestRenderAsThePlatformAllows tests that a claim is refused as in a cluster, unless the
// rules that allow it are among the files.
func TestRenderAsThePlatformAllows(t *testing.T) {
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	const claim = "apiVersion: koldun.gorizond.io/v1\nkind: Dllama\nmetadata: {name: d}\nspec: {modelRef: {name: m}, rootImage: 'ghcr.io/acme/engine:1'}\n"
	const rules = "apiVersion: apiextensions.crossplane.io/v1beta1\nkind: EnvironmentConfig\nmetadata: {name: koldun-platform}\ndata: {claims: [{namespaces: [%s], images: [ghcr.io/acme]}]}\n"
	for namespace, allowed := range map[string]bool{"": false, "other": false, "default": true} {
		files := []string{filepath.Join(t.TempDir(), "claim.yaml")}
		texts := []string{claim}
		if namespace != "" {
			files, texts = append(files, filepath.Join(t.TempDir(), "rules.yaml")), append(texts, fmt.Sprintf(rules, namespace))
		}
		for i, file := range files {
			if err := os.WriteFile(file, []byte(texts[i]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		read, err := claims.Read(t.Context(), schemas, files)
		if err != nil {
			t.Fatal(err)
		}
		err = Claims(t.Context(), Config{Schemas: schemas, Image: "koldun:test"}, read, io.Discard)
		if refused := err != nil && fault.Is(err, fault.Invalid) && strings.Contains(err.Error(), "NotAllowed: spec.rootImage: ") && strings.Contains(err.Error(), `images: ["ghcr.io/acme/engine"]`); refused == allowed {
			t.Errorf("with rules for namespace %q: %v", namespace, err)
		}
	}
}
