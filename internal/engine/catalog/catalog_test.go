package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/catalog"
	"github.com/gorizond/koldun/internal/fault"
)

func TestChoose(t *testing.T) {
	const own = "ghcr.io/gorizond/koldun:latest"
	cases := map[string]struct {
		claim catalog.Claim
		want  string
	}{
		"Nothing":           {catalog.Claim{}, "embedded"},
		"NoImage":           {catalog.Claim{Nodes: 1, Images: []string{"", ""}}, "embedded"},
		"Image":             {catalog.Claim{Images: []string{"dllama"}}, "distributed-llama"},
		"SecondImage":       {catalog.Claim{Nodes: 1, Images: []string{"", "dllama"}}, "distributed-llama"},
		"Name":              {catalog.Claim{Engine: "distributed-llama", Nodes: 1}, "distributed-llama"},
		"NameAndImage":      {catalog.Claim{Engine: "embedded", Images: []string{"dllama"}}, "embedded"},
		"NameAndNodes":      {catalog.Claim{Engine: "embedded", Nodes: 2}, "embedded"},
		"SeveralNodes":      {catalog.Claim{Nodes: 2}, "distributed-llama"},
		"KoldunsImage":      {catalog.Claim{Nodes: 1, Images: []string{own, own}}, "embedded"},
		"ConfiguredImage":   {catalog.Claim{Koldun: "mirror/k:1", Images: []string{"mirror/k:2"}}, "embedded"},
		"ForeignKoldun":     {catalog.Claim{Koldun: own, Images: []string{"mirror/k:2"}}, "distributed-llama"},
		"KoldunsOnSeveral":  {catalog.Claim{Nodes: 4, Images: []string{own, own}}, "distributed-llama"},
		"KoldunsAndAnother": {catalog.Claim{Nodes: 1, Images: []string{own, "dllama"}}, "distributed-llama"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := catalog.Choose(c.claim)
			if err != nil || got.Name != c.want {
				t.Errorf("Choose(%+v) = %q, %v, want %q", c.claim, got.Name, err, c.want)
			}
		})
	}
	_, err := catalog.Choose(catalog.Claim{Engine: "none", Images: []string{"image"}})
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), `"none"`) || !strings.Contains(err.Error(), strings.Join(catalog.Names(), ", ")) {
		t.Errorf("an unknown engine is refused with %v", err)
	}
}

// TestDescriptionsAreComplete holds what every engine needs, and that no claim
// is without one.
func TestDescriptionsAreComplete(t *testing.T) {
	names := catalog.Names()
	if slices.Sort(names); len(slices.Compact(names)) != len(catalog.Engines()) {
		t.Errorf("two engines share a name: %q", names)
	}
	for _, e := range catalog.Engines() {
		if e.Name == "" || e.Selects == nil || e.Slots < 1 || e.Root == nil {
			t.Errorf("engine %q lacks a name, a choice, a slot or a root", e.Name)
		}
		if (e.Worker == nil) != (e.MaxNodes == 1) {
			t.Errorf("engine %q has %d nodes at most, and a worker: %v", e.Name, e.MaxNodes, e.Worker != nil)
		}
		if m := e.Memory; m != nil && (m.Plan == nil || m.Buffers == nil || m.Loading == nil) {
			t.Errorf("engine %q has half a memory plan", e.Name)
		}
		if p := e.Process; p != nil && (len(p.TextBegin) != 4 || len(p.TextEnd) != 4 || p.Role == nil || p.Classify == nil || p.Resumes == nil) {
			t.Errorf("engine %q has half a process", e.Name)
		}
		for name, main := range containers(e) {
			if e.Guarded && main.ProbePort == engine.PortEngine {
				t.Errorf("the %s of engine %q is probed on the port that is guarded", name, e.Name)
			}
			if main.Image != "image" {
				t.Errorf("the %s of engine %q runs image %q", name, e.Name, main.Image)
			}
		}
	}
	if several, err := catalog.Choose(catalog.Claim{Nodes: 2}); err != nil || several.Worker == nil || several.Image == "" {
		t.Errorf("engine %q of a claim with several nodes has no workers or no image, %v", several.Name, err)
	}
	if got := catalog.Spreading(); got != "distributed-llama" {
		t.Errorf("engines with workers are %q", got)
	}
}

func containers(e engine.Engine) map[string]engine.Container {
	node := engine.Node{Image: "image", Koldun: "koldun"}
	out := map[string]engine.Container{"root": e.Root(engine.Root{Node: node}).Main}
	if e.Worker != nil {
		out["worker"] = e.Worker(engine.Worker{Node: node}).Main
	}
	return out
}
