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
		want  string // several have spaces between them
	}{
		{profile.Model{Name: "map", Named: true, Config: config(`{"name": "bert"}`)}, "bert"},
		{profile.Model{Name: "map", Config: append(config(`{"name": "bert"}`), config(`{"name": "phi"}`)...)}, "bert phi"},
		{profile.Model{Name: "d", Config: config(`{}`)}, "d"},
		{profile.Model{Name: "map", Named: true, URI: "localai@phi-2"}, "phi-2"},
		{profile.Model{Name: "phi-2", URI: "phi-2"}, "phi-2"},
		{profile.Model{Name: "x", URI: "huggingface://org/repo/m.gguf"}, "m.gguf"},
		{profile.Model{Name: "map", Named: true, URI: "https://h/m.gguf"}, "map"},
		{profile.Model{Name: "a/m.gguf", URI: "/models/a/m.gguf", File: true}, "a/m.gguf"},
	} {
		if got := strings.Join(localai.Profile().NamesAlone(c.model), " "); got != c.want {
			t.Errorf("the name of %+v is %q, want %q", c.model, got, c.want)
		}
	}
}

// TestAlone: what LocalAI downloads is in the folder.
func TestAlone(t *testing.T) {
	got, err := localai.Profile().Deploy(profile.Deployment{Folder: "$(CACHE)/models", Models: []profile.Model{{Name: "phi-2", URI: "phi-2"}}})
	if err != nil || !slices.Contains(got.Args, "--models-path=$(CACHE)/models") || got.Env["MODELS_PATH"] != "$(CACHE)/models" {
		t.Errorf("got %q %v: %v", got.Args, got.Env, err)
	}
}

// TestOneName: what is said depends on where the names come from. Entries of a
// configuration file after the first were not compared.
func TestOneName(t *testing.T) {
	configs := []json.RawMessage{json.RawMessage(`{"name": "b"}`), json.RawMessage(`{"name": "a"}`)}
	for says, same := range map[string][]profile.Model{
		`[0] and [1] are both called "a", so clients cannot tell them apart: leave out options.servedName`: {{Name: "a", Named: true, URI: "https://h/m.gguf"}, {Name: "a", Named: true, URI: "https://h/n.gguf"}},
		`[0] and [1] are both called "a", so clients cannot tell them apart: change the name in`:           {{Name: "a", URI: "a"}, {Name: "c", Config: configs}},
		`[0] and [2] are both called "a", so clients cannot tell them apart: give each a modelMapRef`:      {{Name: "a", URI: "localai@a"}, {Name: "b", URI: "b"}, {Name: "a", URI: "other@a"}},
	} {
		if _, err := localai.Profile().Deploy(profile.Deployment{Models: same}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, want %q", err, says)
		}
	}
}
