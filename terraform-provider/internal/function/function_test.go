package function_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/terraform-provider/internal/provider"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

func start(t *testing.T) *providertest.Provider {
	return providertest.New(t, provider.New("test", func(string) string { return "" }), nil)
}

func tiny(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../../examples/models/koldun-tiny/config.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestTopology(t *testing.T) {
	r, config := start(t), tiny(t)
	v, e := r.Call("topology", config, "q40", 4, 0, 0)
	if e != "" {
		t.Fatal(e)
	}
	got, _ := providertest.JSON(v).(map[string]any)
	shape, err := topology.FromConfig([]byte(config), topology.Q40)
	if err != nil {
		t.Fatal(err)
	}
	want, err := shape.Preflight(topology.Request{Nodes: 4})
	if err != nil {
		t.Fatal(err)
	}
	root, _ := got["root"].(map[string]any)
	if fmt.Sprint(root["total"]) != fmt.Sprint(want.Root().Total()) || got["buffer_type"] != "q80" || fmt.Sprint(got["possible_nodes"]) != "[1 2 4]" || fmt.Sprint(got["seq_len"]) != "512" {
		t.Errorf("got %v, want the plan %+v", got, want)
	}
	if v, _ = r.Call("topology", config, "q40", 1, 256, 0); providertest.JSON(v).(map[string]any)["worker"] != nil {
		t.Error("a single node has a worker")
	}
	for name, c := range map[string]struct {
		args []any
		want string
	}{
		"TooMany":    {[]any{config, "q40", 8, 0, 0}, "it can be spread onto 1, 2, 4 nodes"},
		"NoSuchType": {[]any{config, "q5", 1, 0, 0}, "q5"},
		"NotRunning": {[]any{config, "f16", 1, 0, 0}, "stored but not run"},
		"TooSmall":   {[]any{config, "q40", 1, 0, 1 << 10}, "needs"},
		"TooLong":    {[]any{config, "q40", 1, 1 << 20, 0}, "the model has 1 to 512"},
		"NoModel":    {[]any{"{}", "q40", 1, 0, 0}, "model_type"},
	} {
		if _, e := r.Call("topology", c.args...); !strings.Contains(e, c.want) {
			t.Errorf("%s: got %q, want %q", name, e, c.want)
		}
	}
}

func TestClaim(t *testing.T) {
	r := start(t)
	str := func(s string) tftypes.Value { return tftypes.NewValue(tftypes.String, s) }
	object := func(m map[string]tftypes.Value) tftypes.Value {
		types := map[string]tftypes.Type{}
		for k, v := range m {
			types[k] = v.Type()
		}
		return tftypes.NewValue(tftypes.Object{AttributeTypes: types}, m)
	}
	meta := object(map[string]tftypes.Value{"name": str("chat"), "namespace": str("ai")})
	spec := object(map[string]tftypes.Value{"modelRef": object(map[string]tftypes.Value{"name": str("llama")}), "nodes": tftypes.NewValue(tftypes.Number, 1)})
	v, e := r.Call("claim", "Dllama", meta, spec)
	if e != "" {
		t.Fatal(e)
	}
	const want = `map[apiVersion:koldun.gorizond.io/v1 kind:Dllama metadata:map[name:chat namespace:ai] spec:map[modelRef:map[name:llama] nodes:1]]`
	if got := fmt.Sprint(providertest.JSON(v)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for name, c := range map[string]struct {
		kind string
		spec tftypes.Value
		want string
	}{
		"Unknown": {"Dllama", object(map[string]tftypes.Value{"modleRef": str("x")}), "spec.modleRef"},
		"Rule":    {"Dllama", object(nil), "give either model"},
		"Kind":    {"Pod", object(nil), `kind "Pod" is not one of Koldun's`},
	} {
		if _, e := r.Call("claim", c.kind, meta, c.spec); !strings.Contains(e, c.want) {
			t.Errorf("%s: got %q, want %q", name, e, c.want)
		}
	}
}

func TestParseModelRef(t *testing.T) {
	r := start(t)
	v, e := r.Call("parse_model_ref", "https://huggingface.co/org/model/tree/main")
	if got := fmt.Sprint(providertest.JSON(v)); e != "" || got != "map[bucket:<nil> canonical:hf://org/model@main endpoint:<nil> path:<nil> pinned:false repo:org/model revision:main scheme:hf]" {
		t.Errorf("got %s %s", got, e)
	}
	if _, e := r.Call("parse_model_ref", "https://user:secret-word@hub/org/model"); e == "" || strings.Contains(e, "secret-word") {
		t.Errorf("got %q", e)
	}
}

// TestConversationHash compares the hash with that of the gateway.
func TestConversationHash(t *testing.T) {
	r := start(t)
	messages := []any{
		map[string]any{"role": "system", "content": "be brief"},
		map[string]any{"role": "user", "content": "hi"},
		map[string]any{"role": "assistant", "content": "hello"},
	}
	turns := []openai.Message{{Role: "system", Content: "be brief"}, {Role: openai.User, Content: "hi"}}
	for name, c := range map[string]struct {
		args []any
		want string
	}{
		"Prefix":   {[]any{"tenant", "", messages, ""}, openai.Conversation(nil, "tenant", "", turns)},
		"Explicit": {[]any{"tenant", "c-1", []any{}, ""}, openai.Conversation(nil, "tenant", "c-1", nil)},
		"Keyed":    {[]any{"tenant", "c-1", []any{}, "base64:a2V5"}, openai.Conversation([]byte("key"), "tenant", "c-1", nil)},
	} {
		if v, e := r.Call("conversation_hash", c.args...); e != "" || providertest.JSON(v) != c.want {
			t.Errorf("%s: got %v %s, want %s", name, providertest.JSON(v), e, c.want)
		}
	}
	for _, args := range [][]any{{"tenant", "", []any{}, ""}, {"tenant", "c", []any{}, "base64:!"}} {
		if _, e := r.Call("conversation_hash", args...); e == "" {
			t.Errorf("%v is accepted", args)
		}
	}
}
