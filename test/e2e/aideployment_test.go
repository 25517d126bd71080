package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	ollamaprofile "github.com/gorizond/koldun/internal/engine/openai/profile/ollama"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/node"
	"github.com/gorizond/koldun/test/ollama"
)

// onOllama is a volume with the tiny model, and an AIDeployment on Ollama that reads it
// from there.
const onOllama = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: files}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
---
apiVersion: koldun.gorizond.io/v1
kind: ModelDownload
metadata: {name: shared}
spec:
  storagePVC: files
  models: [{name: gorizond/koldun-tiny, exclude: ['train/*']}]
---
apiVersion: koldun.gorizond.io/v1
kind: AIDeployment
metadata: {name: koldun-tiny}
spec:
  engine: {name: ollama, maxSeqLen: 512}
  models: [{uri: gorizond/koldun-tiny/Modelfile}]
  modelSource: {modelDownloadRef: {name: shared}}
`

// onRing is an AIDeployment on two nodes of distributed-llama, with a variant of a map.
const onRing = `
apiVersion: koldun.gorizond.io/v1
kind: AIModelMap
metadata: {name: tiny}
spec:
  distributed-llama: [{variant: q40, uri: gorizond/koldun-tiny, quantization: q40}]
---
apiVersion: koldun.gorizond.io/v1
kind: AIDeployment
metadata: {name: koldun-tiny}
spec:
  engine: {name: distributed-llama, nodes: 2}
  models: [{modelMapRef: {name: tiny, variant: q40}}]
  gateway: {allowAnonymous: true}
`

// TestAIDeployments tests that AIDeployments answer on real engines: on Ollama, alone
// behind its Service and behind the gateway, and on distributed-llama.
func TestAIDeployments(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	if err := os.Symlink(ollama.Program(t), filepath.Join(bin, "ollama")); err != nil {
		t.Fatal(err)
	}
	p := installed(t, "Namespaced")
	p.watch(t)
	p.processes.start(t, func(o *node.Options) { o.Programs[ollamaprofile.Profile().Image] = bin })
	var all sync.WaitGroup
	for name, c := range map[string]struct{ manifest, model, api string }{
		"Alone":       {onOllama, "koldun-tiny:latest", "/v1"},
		"Gateway":     {onOllama + "  gateway: {allowAnonymous: true}\n", "NS/koldun-tiny", ""},
		"Distributed": {onRing, "NS/koldun-tiny", ""},
	} {
		all.Go(func() { t.Run(name, func(t *testing.T) { p.aideployment(t, c.manifest, c.model, c.api) }) })
	}
	all.Wait()
	t.Logf("budgets:\n%s", p.budgets.counter.Report("")) // of models that are ready within seconds
}

// aideployment waits until an AIDeployment serves a model under a name, and asks it. The
// path of the API follows the URL of its status.
func (p *suite) aideployment(t *testing.T, manifest, model, path string) {
	if manifest == onRing && os.Getenv(bins) == "" {
		t.Skip("run it with: make engine cluster-binaries && " + bins + "=$PWD/bin/distributed-llama go test -run TestAIDeployments ./test/e2e")
	}
	ns := p.Namespace(t)
	if model == "NS/koldun-tiny" {
		model = ns + "/koldun-tiny"
	}
	if err := p.ApplyIn(t.Context(), ns, manifest); err != nil {
		t.Fatal(err)
	}
	const name = "koldun-tiny"
	cluster.Eventually(t, "the AIDeployment to be ready", p.holds(ns, api, "AIDeployment", name, "Ready"))
	d, err := p.get(t.Context(), ns, api, "AIDeployment", name)
	if err != nil {
		t.Fatal(err)
	}
	url, _, _ := unstructured.NestedString(d.Object, "status", "url")
	phase, _, _ := unstructured.NestedString(d.Object, "status", "status")
	models, _, _ := unstructured.NestedSlice(d.Object, "status", "resolvedModels")
	if phase != "Ready" || len(models) != 1 || fmt.Sprint(models[0].(map[string]any)["name"]) != model {
		t.Errorf("the status is %v, want Ready and model %q", d.Object["status"], model)
	}
	client := p.processes.node.HTTP()
	cluster.Eventually(t, "an answer", func(ctx context.Context) error { return ask(ctx, client, url+path, func() {}) })
	listed, err := modelsOf(t.Context(), client, url+path)
	if err != nil || !listed[model] {
		t.Errorf("the endpoint lists %v, not %q: %v", listed, model, err)
	}
}

// modelsOf returns the names of the models that an endpoint lists.
func modelsOf(ctx context.Context, client *http.Client, url string) (map[string]bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/models", http.NoBody)
	if err != nil {
		return nil, err
	}
	rsp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rsp.Body.Close() }()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(rsp.Body).Decode(&list); err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, m := range list.Data {
		out[m.ID] = true
	}
	return out, nil
}
