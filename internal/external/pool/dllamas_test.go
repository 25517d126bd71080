package pool_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/pool"
	"github.com/gorizond/koldun/internal/external/pool/autoscaler"
)

func TestDllamasOfMembers(t *testing.T) {
	s := pool.Spec{Session: "ns_m", Owner: "ns/chat", Dllama: &external.Template{
		Labels: map[string]string{"a": "b"}, Spec: map[string]any{"nodes": 2.0},
	}}
	o := pool.Status{Members: []pool.Member{{Name: "0", Phase: autoscaler.Drained}, {Name: "1", Phase: autoscaler.Draining}, {Name: "2", Phase: autoscaler.Active}}}
	of := func(name string) external.Object {
		return external.Object{
			APIVersion: "koldun.gorizond.io/v1", Kind: "Dllama", Name: name,
			Labels: map[string]string{"a": "b"}, Spec: map[string]any{"nodes": 2.0},
		}
	}
	// One that has been drained goes; one that drains still answers.
	if d := cmp.Diff([]external.Object{of("chat-1"), of("chat-2")}, pool.Dllamas().Objects(s, o)); d != "" {
		t.Error(d)
	}
	if !pool.Dllamas().Enabled(s) {
		t.Error("a pool with a template creates no Dllamas")
	}
	s.Dllama = nil
	if got := pool.Dllamas().Objects(s, o); len(got) > 0 || pool.Dllamas().Enabled(s) {
		t.Errorf("without a template there are %v", got)
	}
}

func TestDllamaStates(t *testing.T) {
	dllama := func(name string, status map[string]any) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": name}, "status": status}
	}
	serving := func(fields map[string]any) []any {
		fields["type"] = "Serving"
		return []any{map[string]any{"type": "Ready", "status": "False"}, fields}
	}
	var s pool.Spec
	pool.Dllamas().Note(&s, external.Existing{Own: []map[string]any{
		dllama("new", nil),
		dllama("serves", map[string]any{"readyWorkers": int64(3), "conditions": serving(map[string]any{"status": "True", "reason": "Available"})}),
		dllama("fails", map[string]any{"readyWorkers": 1.0, "conditions": serving(map[string]any{"status": "False", "reason": "Why", "message": strings.Repeat("ж", 2000)})}),
	}})
	want := map[string]pool.DllamaState{
		"new":    {},
		"serves": {Ready: true, ReadyWorkers: 3},
		"fails":  {ReadyWorkers: 1, Reason: "Why", Message: strings.Repeat("ж", 1023) + "…"},
	}
	if d := cmp.Diff(want, s.DllamaStates); d != "" {
		t.Error(d)
	}
}

// The status of a Dllama counts for the template and the spec that it is of.
func TestDllamaStatesOfAnotherTemplate(t *testing.T) {
	for name, c := range map[string]struct {
		template, made       string
		generation, observed any
		ready                bool
	}{
		"Same":           {"b", "b", int64(2), int64(2), true},
		"EarlierSpec":    {"b", "b", int64(2), int64(1), false},
		"EarlierDecoded": {"b", "b", 2.0, 1.0, false},
		"Another":        {"b", "a", int64(2), int64(2), false},
		"OfAClaim":       {"b", "b", int64(2), nil, true},
		"MadeWithout":    {"b", "", int64(2), int64(2), true},
	} {
		t.Run(name, func(t *testing.T) {
			mark := func(hash string) map[string]string { return map[string]string{"koldun.gorizond.io/template": hash} }
			annotations := map[string]any{}
			if c.made != "" {
				annotations["koldun.gorizond.io/template"] = c.made
			}
			s := pool.Spec{Dllama: &external.Template{Annotations: mark(c.template)}}
			pool.Dllamas().Note(&s, external.Existing{Own: []map[string]any{{
				"metadata": map[string]any{"name": "d", "generation": c.generation, "annotations": annotations},
				"status": map[string]any{
					"observedGeneration": c.observed, "readyWorkers": int64(1),
					"conditions": []any{map[string]any{"type": "Serving", "status": "True"}},
				},
			}}})
			if got := s.DllamaStates["d"]; got.Ready != c.ready || (got.ReadyWorkers == 1) != c.ready {
				t.Errorf("the state is %+v", got)
			}
		})
	}
}
