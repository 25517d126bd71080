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
	cases := map[string]struct {
		name   string
		images []string
		want   string
	}{
		"Nothing":      {"", nil, "embedded"},
		"NoImage":      {"", []string{"", ""}, "embedded"},
		"Image":        {"", []string{"dllama"}, "distributed-llama"},
		"SecondImage":  {"", []string{"", "dllama"}, "distributed-llama"},
		"Name":         {"distributed-llama", nil, "distributed-llama"},
		"NameAndImage": {"embedded", []string{"dllama"}, "embedded"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := catalog.Choose(c.name, c.images...)
			if err != nil || got.Name != c.want {
				t.Errorf("Choose(%q, %q) = %q, %v, want %q", c.name, c.images, got.Name, err, c.want)
			}
		})
	}
	_, err := catalog.Choose("none", "image")
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
