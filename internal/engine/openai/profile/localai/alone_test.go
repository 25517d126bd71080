package localai_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/localai"
	"github.com/gorizond/koldun/internal/fault"
)

// TestNames: clients ask LocalAI for the names of its configurations, of files as they
// are configured, and of entries of the gallery without its name.
func TestNames(t *testing.T) {
	config := func(text string) []json.RawMessage { return []json.RawMessage{json.RawMessage(text)} }
	for _, c := range []struct {
		model profile.Model
		want  string
	}{
		{profile.Model{Name: "map", Named: true, Config: config(`{"name": "bert"}`)}, "bert"},
		{profile.Model{Name: "d", Config: config(`{}`)}, "d"},
		{profile.Model{Name: "map", Named: true, URI: "localai@phi-2"}, "phi-2"},
		{profile.Model{Name: "phi-2", URI: "phi-2"}, "phi-2"},
		{profile.Model{Name: "x", URI: "huggingface://org/repo/m.gguf"}, "m.gguf"},
		{profile.Model{Name: "map", Named: true, URI: "https://h/m.gguf"}, "map"},
		{profile.Model{Name: "a/m.gguf", URI: "/models/a/m.gguf", File: true}, "a/m.gguf"},
	} {
		if got := localai.Profile().NameAlone(c.model); got != c.want {
			t.Errorf("the name of %+v is %q, want %q", c.model, got, c.want)
		}
	}
}

// TestAlone: what LocalAI downloads is in the folder, and no two models have one name.
func TestAlone(t *testing.T) {
	got, err := localai.Profile().Deploy(profile.Deployment{Folder: "$(CACHE)/models", Models: []profile.Model{{Name: "phi-2", URI: "phi-2"}}})
	if err != nil || !slices.Contains(got.Args, "--models-path=$(CACHE)/models") || got.Env["MODELS_PATH"] != "$(CACHE)/models" {
		t.Errorf("got %q %v: %v", got.Args, got.Env, err)
	}
	same := []profile.Model{{Name: "a", Named: true, URI: "https://h/m.gguf"}, {Name: "a", Named: true, URI: "https://h/n.gguf"}}
	if _, err := localai.Profile().Deploy(profile.Deployment{Models: same}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), `two models are called "a"`) {
		t.Errorf("got error %v", err)
	}
}
