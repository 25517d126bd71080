package claim_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/gorizond/koldun/terraform-provider/internal/claim"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

// A subject is a kind to permute.
type subject struct {
	kind    string // in a cluster
	cluster bool   // whether it is cluster-scoped
	base    map[string]any
	samples providertest.Samples
}

// inside lists attributes that control operations and are not stored on the
// object: no import can read them.
var inside = []string{"wait", "timeouts", "force_conflicts", "model_config"} //nolint:gochecknoglobals // a constant in all but syntax

// subjects returns a subject for each kind of claim.
func subjects() map[string]subject {
	model := map[string]any{"name": "m"}
	engine := []any{map[string]any{}, map[string]any{"threads": 1}, map[string]any{"threads": 4, "extra_args": []any{}}}
	scheduling := []any{map[string]any{}, map[string]any{"node_selector": map[string]any{}}, map[string]any{
		"node_selector": map[string]any{"zone": "a"}, "tolerations": []any{map[string]any{"key": "gpu", "operator": "Exists"}}, "image_pull_secrets": []any{},
	}}
	resources := []any{map[string]any{}, map[string]any{"limits": map[string]any{"memory": "1Gi", "cpu": "4"}}, map[string]any{"requests": map[string]any{}}, map[string]any{"claims": []any{}}}
	return map[string]subject{
		"koldun_model": {kind: "Model", base: map[string]any{"source_url": "hf://org/model"}, samples: providertest.Samples{}},
		"koldun_model_download": {kind: "ModelDownload", base: map[string]any{"storage_pvc": "files", "models": []any{map[string]any{"name": "org/model"}}}, samples: providertest.Samples{
			"models": {
				[]any{}, []any{map[string]any{"name": "org/model", "sha": "0123abc", "retry_count": 0, "include": []any{}, "exclude": []any{"*.bin"}}, map[string]any{"name": "gpt2", "sub_path": "old/gpt2"}},
			},
			"settings":   {map[string]any{}, map[string]any{"timeout_millis": 1, "cpu": "500m", "memory": "1Gi", "force_reload": true}},
			"scheduling": scheduling, "on_token_change": nil, "endpoint": {"https://hub.example.org"},
			"hf_token_ref": {map[string]any{"name": "hf", "key": "token"}},
		}},
		"koldun_dllama": {kind: "Dllama", base: map[string]any{"model_ref": map[string]any{"name": "m", "namespace": "models"}}, samples: providertest.Samples{
			"model": nil, "ingress_ref": {map[string]any{"name": "front"}}, "engine": engine, "root_resources": resources, "scheduling": scheduling, "nodes": {1},
			"expose": {
				map[string]any{}, map[string]any{"allow_anonymous": false, "service": map[string]any{"annotations": map[string]any{}}},
				map[string]any{"route": map[string]any{"host": "a.example", "path": "/"}},
				map[string]any{"responses": map[string]any{}}, map[string]any{"responses": map[string]any{"ttl": "2h", "max_bytes": "64Mi"}},
			},
		}},
		"koldun_session": {kind: "Session", base: map[string]any{"model_ref": model}, samples: providertest.Samples{
			"engine": engine, "scheduling": scheduling, "worker_resources": resources, "nodes": {1},
		}},
		"koldun_ingress": {kind: "Ingress", base: map[string]any{}, samples: providertest.Samples{}},
		"koldun_root":    {kind: "Root", base: map[string]any{"model_ref": "volume"}, samples: providertest.Samples{"scheduling": scheduling, "resources": resources, "serves": {"ns/m"}, "answer_timeouts": nil}},
		"koldun_worker":  {kind: "Worker", base: map[string]any{"image": "example.org/dllama:1"}, samples: providertest.Samples{"scheduling": scheduling, "resources": resources}},
		"koldun_ai_model_map": {kind: "AIModelMap", base: map[string]any{"ollama": []any{map[string]any{"variant": "base", "uri": "qwen3:0.6b"}}}, samples: providertest.Samples{
			"vllm":   {[]any{}, []any{map[string]any{"variant": "a", "uri": "org/a"}, map[string]any{"variant": "b", "data_type": "float16"}}},
			"triton": nil, "tensor_rt": {[]any{map[string]any{"variant": "a", "uri": "https://h/a.tar.gz"}}}, "sglang": nil, "llamacpp": nil, "localai": nil, "tgi": nil,
			"tensorrt_llm": nil, "deepspeed_mii": {[]any{map[string]any{"variant": "a", "uri": "org/a"}}}, "distributed_llama": nil,
		}},
		"koldun_ai_deployment": {kind: "AIDeployment", base: map[string]any{"engine": map[string]any{"name": "localai"}, "models": []any{map[string]any{"uri": "phi-2"}}}, samples: providertest.Samples{
			"engine": nil, "models": {[]any{map[string]any{"uri": "phi-2", "options": map[string]any{}}}}, "gateway": nil, "autoscaling": {map[string]any{"max_replicas": 3}},
			"route": {map[string]any{}}, "model_source": {map[string]any{"pvc": map[string]any{"claim_name": "files"}}}, "cache": {map[string]any{"claim_name": "cache"}},
			"env":      {[]any{}, []any{map[string]any{"name": "A", "value": "b"}}},
			"endpoint": {[]any{}, []any{map[string]any{"domain": "a.example", "path": "/"}}},
			"deployment": {map[string]any{}, map[string]any{"labels": map[string]any{}, "tolerations": []any{}, "template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"a": "b"}}, "spec": "{ \"hostNetwork\": true }",
			}}},
		}},
		"koldun_auto_node_labeler": {kind: "AutoNodeLabeler", cluster: true, base: map[string]any{"node_labels": map[string]any{"a": "b"}}, samples: providertest.Samples{
			"match_expression":  {map[string]any{"key": "gpu", "operator": "Exists"}, map[string]any{"key": "gpu", "operator": "In", "values": []any{"a"}}},
			"match_expressions": nil, "capacity": {map[string]any{}, map[string]any{"cpu": "2"}}, "node_info": {map[string]any{}, map[string]any{"architecture": "arm64"}},
		}},
		"koldun_model_orchestra": {kind: "ModelOrchestra", base: map[string]any{}, samples: providertest.Samples{
			"nats": nil, "allow_anonymous": nil, "gateway": {map[string]any{}, map[string]any{"replica_count": 2, "image": map[string]any{"tag": "1"}}},
			"application_template": {map[string]any{}, map[string]any{"reader_config": map[string]any{"device": "cuda"}}},
			"applications":         {map[string]any{}, map[string]any{"chat": map[string]any{"reader_config": map[string]any{"model_name": "org/model"}}}},
			"service_account":      {map[string]any{}, map[string]any{"create": false}}, "image_pull_secrets": {[]any{}, []any{map[string]any{"name": "regcred"}}},
		}},
	}
}

// TestEveryPermutation applies each kind with omitted, empty and set attributes:
// plans after apply, refresh and import, by id and by identity, are empty.
func TestEveryPermutation(t *testing.T) {
	all := subjects()
	for _, k := range claim.Kinds() {
		s, ok := all["koldun_"+k.Name]
		if !ok {
			t.Errorf("koldun_%s is not permuted", k.Name)
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			providertest.OneKind(t, k.Name, "session")
			w := start(t)
			w.serve(s.kind)
			for a, v := range map[string][]any{
				"wait": {map[string]any{}, map[string]any{"until": "ready"}}, "timeouts": {map[string]any{}, map[string]any{"create": "10m"}},
				"model_config": nil, "force_conflicts": {false, true}, "namespace": {w.namespace},
				"labels": {map[string]any{}, map[string]any{"team": "a"}}, "annotations": {map[string]any{}, map[string]any{"example.org/a": ""}},
			} {
				s.samples[a] = v
			}
			scope := w.namespace
			if s.cluster {
				scope = ""
				delete(s.samples, "namespace")
			}
			base := maps.Clone(s.base)
			base["name"] = "perm"
			checked := map[string]bool{}
			for i, config := range w.Resource("koldun_"+k.Name).Permutations(base, s.samples, 25) {
				config = maps.Clone(config)
				config["name"] = fmt.Sprintf("perm-%d", i)
				w.Resource("koldun_"+k.Name).CheckUnknown(config, checked)
				r := w.permute("koldun_"+k.Name, scope, config)
				if t.Failed() {
					t.Fatalf("with %v", config)
				}
				if i > 0 {
					continue // the others are deleted with the cluster
				}
				if e := r.Destroy(); e != "" {
					t.Fatal(e)
				}
			}
		})
	}
}

// permute applies, refreshes and imports a configuration; namespace is "" for a
// cluster-scoped kind.
func (w *world) permute(kind, namespace string, config map[string]any) *providertest.Resource {
	t := w.t
	t.Helper()
	r := w.Resource(kind)
	if e := r.Apply(config); e != "" {
		t.Fatalf("%v: %s", config, e)
	}
	if r.Attribute("ready") != true || namespace != "" && r.Attribute("namespace") != namespace {
		t.Fatalf("%v is not ready: %v %s", config, providertest.JSON(r.State), r.Warnings)
	}
	r.CheckStable(config)
	outside := maps.Clone(config)
	maps.DeleteFunc(outside, func(a string, _ any) bool { return slices.Contains(inside, a) })
	identity, id := map[string]any{"name": config["name"]}, fmt.Sprint(config["name"])
	if namespace != "" {
		identity["namespace"], id = namespace, namespace+"/"+id
	}
	for _, imported := range []*providertest.Resource{w.Import(kind, id), w.ImportIdentity(kind, identity)} {
		imported.CheckStable(outside)
		if got := fmt.Sprint(imported.Identity()); got != fmt.Sprint(identity) {
			t.Errorf("got identity %s", got)
		}
	}
	if data, e := w.Data(kind, identity); e != "" || data["ready"] != true {
		t.Errorf("data source: got %v %s", data, e)
	}
	return r
}
