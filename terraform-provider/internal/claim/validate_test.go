package claim_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gorizond/koldun/terraform-provider/internal/provider"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

// offline returns a provider with the address of a cluster that does not exist:
// plans need none.
func offline(t *testing.T) *providertest.Provider {
	return providertest.New(t, provider.New("test", func(string) string { return "" }), map[string]any{
		"kubernetes": map[string]any{"host": "https://192.0.2.1:6443", "token": "none"},
	})
}

func TestPlanContactsNoCluster(t *testing.T) {
	p := offline(t).Resource("koldun_dllama").Plan(map[string]any{"name": "a", "model_ref": map[string]any{"name": "m"}})
	if p.Errors != "" {
		t.Error(p.Errors)
	}
	if m, _ := providertest.JSON(p.State).(map[string]any); m["namespace"] != "default" || m["ready"] != "(unknown)" {
		t.Errorf("got plan %v", m)
	}
}

func TestWithoutAnyClusterThePlanSaysSo(t *testing.T) {
	r := providertest.New(t, provider.New("test", func(string) string { return "" }), nil)
	p := r.Resource("koldun_model").Plan(map[string]any{"name": "a", "source_url": "hf://a/b"})
	if !strings.Contains(p.Errors, "kubernetes.config_path") || !strings.Contains(p.Errors, "provider::koldun::claim") {
		t.Errorf("got error %q", p.Errors)
	}
}

func TestInvalidIsFoundBeforeApply(t *testing.T) {
	raw, err := os.ReadFile("../../../examples/models/koldun-tiny/config.json")
	if err != nil {
		t.Fatal(err)
	}
	tiny := string(raw)
	const long = `{"model_type":"llama","hidden_act":"silu","hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":128256,"max_position_embeddings":131072,"rms_norm_eps":1e-5,"rope_theta":500000}`
	inVolume := map[string]any{"pre_converted": true, "pre_converted_pvc_name": "c", "pre_converted_size_bytes": 8 << 30 / 99 * 100}
	model := func(m map[string]any) map[string]any {
		out := map[string]any{"source_url": "hf://a/b"}
		for k, v := range m {
			out[k] = v
		}
		return out
	}
	r := offline(t)
	for name, c := range map[string]struct {
		kind   string
		config map[string]any
		want   []string // nil: valid
	}{
		"NodesTwice":       {"koldun_dllama", map[string]any{"nodes": 2, "replica_power": 1, "root_image": "i", "model_ref": map[string]any{"name": "m"}}, []string{"nodes", "not both"}},
		"ModelTwice":       {"koldun_dllama", map[string]any{"model": model(nil), "model_ref": map[string]any{"name": "m"}}, []string{"not both"}},
		"NoSuchDelivery":   {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "delivery": "pigeon"}, []string{"delivery", "pigeon"}},
		"NameTooLong":      {"koldun_dllama", map[string]any{"name": strings.Repeat("n", 64), "model_ref": map[string]any{"name": "m"}}, []string{"name", "63"}},
		"EmbeddedOnMany":   {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "replica_power": 2, "engine": map[string]any{"type": "embedded"}}, []string{"replica_power", "embedded engine", "not on 4", "use 0"}},
		"EmbeddedOnNodes":  {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "nodes": 4, "engine": map[string]any{"type": "embedded"}}, []string{"nodes", "embedded engine", "not on 4", "use 1"}},
		"NothingNamed":     {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "nodes": 4}, nil},
		"EngineNamed":      {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "nodes": 4, "engine": map[string]any{"type": "distributed-llama"}}, nil},
		"ModelForNone":     {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "nodes": 64, "root_image": providertest.Unknown{}, "model_config": tiny}, []string{"nodes", "kv heads"}},
		"ServerOnMany":     {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "nodes": 2, "engine": map[string]any{"type": "openai", "server": map[string]any{"profile": "ollama"}}}, []string{"nodes", "not on 2", "vllm or sglang"}},
		"ServerKnownLater": {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "nodes": 2, "engine": map[string]any{"type": "openai", "server": map[string]any{"profile": providertest.Unknown{}}}}, nil},
		"ServerGroup":      {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "nodes": 2, "engine": map[string]any{"type": "openai", "server": map[string]any{"profile": "vllm"}}}, nil},
		"ServerShape":      {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "nodes": 64, "model_config": tiny, "engine": map[string]any{"type": "openai", "server": map[string]any{"profile": "vllm"}}}, nil},
		"ServerOutside":    {"koldun_dllama", map[string]any{"engine": map[string]any{"type": "openai", "server": map[string]any{"url": "https://api.example.com/v1", "args": []any{"--x"}}}}, []string{"have no effect on a server outside"}},
		"NamedImage":       {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "replica_power": 2, "root_image": "i"}, nil},
		"ImageKnownLater":  {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "replica_power": 2, "root_image": providertest.Unknown{}}, nil},
		"WrongPair":        {"koldun_dllama", map[string]any{"model": model(map[string]any{"conversion": map[string]any{"weights_float_type": "q40"}}), "engine": map[string]any{"buffer_float_type": "f32"}}, []string{"engine", "q80"}},
		"SlotsOfRoot":      {"koldun_dllama", map[string]any{"model": model(nil), "engine": map[string]any{"type": "distributed-llama", "slots": 2}}, []string{"slots: the distributed-llama engine computes 1 request"}},
		"Slots":            {"koldun_dllama", map[string]any{"model": model(nil), "engine": map[string]any{"slots": 2}}, nil},
		"RightPair":        {"koldun_dllama", map[string]any{"model": model(map[string]any{"conversion": map[string]any{"weights_float_type": "q40"}}), "engine": map[string]any{"buffer_float_type": "q80"}}, nil},
		"TooManyNodes":     {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "nodes": 64, "root_image": "i", "model_config": tiny}, []string{"nodes", "kv heads", "can be spread onto"}},
		"RootLimit":        {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "nodes": 1, "root_image": "i", "model_config": tiny, "root_resources": map[string]any{"limits": map[string]any{"memory": "1Ki"}}}, []string{"root_resources", "the root needs"}},
		"RootLimitEnough":  {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "nodes": 1, "root_image": "i", "model_config": tiny, "root_resources": map[string]any{"limits": map[string]any{"memory": "64Gi"}}}, nil},
		"LongModelEnough":  {"koldun_dllama", map[string]any{"model": model(nil), "nodes": 1, "root_image": "i", "model_config": long, "root_resources": map[string]any{"limits": map[string]any{"memory": "12Gi"}}}, nil},
		"LongModelLimit":   {"koldun_dllama", map[string]any{"model": model(nil), "nodes": 1, "root_image": "i", "model_config": long, "root_resources": map[string]any{"limits": map[string]any{"memory": "6Gi"}}}, []string{"root_resources", "at a context of 4096 tokens the root needs"}},
		"LaunchOptions":    {"koldun_dllama", map[string]any{"model": model(map[string]any{"launch_options": []any{"--max-seq-len=256"}}), "nodes": 1, "root_image": "i", "model_config": long, "root_resources": map[string]any{"limits": map[string]any{"memory": "6800Mi"}}}, nil},
		"RequestAbove":     {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "worker_resources": map[string]any{"requests": map[string]any{"cpu": "3"}, "limits": map[string]any{"cpu": "2500m"}}}, []string{"worker_resources", "request of cpu, 3, is more than its limit, 2500m"}},
		"RequestBelow":     {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "worker_resources": map[string]any{"requests": map[string]any{"cpu": "2"}, "limits": map[string]any{"cpu": "2500m", "memory": providertest.Unknown{}}}}, nil},
		"VolumeLimit":      {"koldun_dllama", map[string]any{"model": inVolume, "nodes": 2, "root_image": "i", "root_resources": map[string]any{"limits": map[string]any{"memory": "3Gi"}}}, []string{"root_resources", "at least 4096 MiB", "at least 3 nodes"}},
		"VolumeEnough":     {"koldun_dllama", map[string]any{"model": inVolume, "nodes": 4, "root_image": "i", "root_resources": map[string]any{"limits": map[string]any{"memory": "3Gi"}}}, nil},
		"VolumeKnown":      {"koldun_dllama", map[string]any{"model": inVolume, "nodes": 2, "root_image": "i", "model_config": tiny, "root_resources": map[string]any{"limits": map[string]any{"memory": "3Gi"}}}, nil},
		"WorkerLimit":      {"koldun_dllama", map[string]any{"model": model(nil), "nodes": 2, "root_image": "i", "model_config": long, "worker_resources": map[string]any{"limits": map[string]any{"memory": "1Gi"}}}, []string{"worker_resources", "a worker needs"}},
		"FewEnough":        {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "nodes": 1, "model_config": tiny}, nil},
		"NoModelAtAll":     {"koldun_dllama", map[string]any{"model_ref": map[string]any{"name": "m"}, "model_config": `{"model_type":"bert"}`}, []string{"model_config", "bert"}},
		"PasswordInURL":    {"koldun_model", map[string]any{"source_url": "hf://a/b", "nats": map[string]any{"url": "nats://user:secret-word@host"}}, []string{"nats", "Secret"}},
		"NoSuchWeights":    {"koldun_model", map[string]any{"source_url": "hf://a/b", "conversion": map[string]any{"weights_float_type": "q2"}}, []string{"weights_float_type"}},
		"SessionOfNothing": {"koldun_session", map[string]any{"model_ref": map[string]any{"name": ""}}, []string{"model_ref"}},
		"ModelKnownLater":  {"koldun_dllama", map[string]any{"model_ref": providertest.Unknown{}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if c.config["name"] == nil {
				c.config["name"] = "a"
			}
			got := r.Resource(c.kind).Validate(c.config)
			if c.want == nil && got != "" {
				t.Errorf("got error %s, want none", got)
			}
			if c.want != nil && got == "" {
				t.Error("got no error")
			}
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("got %q, want %q in it", got, want)
				}
			}
			if strings.Contains(got, "secret-word") {
				t.Error("the message repeats a password")
			}
		})
	}
}
