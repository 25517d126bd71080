package demand_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/demand"
	"github.com/gorizond/koldun/internal/names"
)

func TestSessionsOfPools(t *testing.T) {
	free, taken, served := names.Session("ns", "m", ""), names.Session("ns", "m", "x"), names.Session("ns", "n", "")
	s := demand.Spec{Namespace: "ns", Session: &external.Template{Labels: map[string]string{"a": "b"}, Spec: map[string]any{"nodes": 2.0, "key": "of nobody"}}}
	demand.Sessions().Note(&s, external.Existing{
		Own:    []map[string]any{{"spec": map[string]any{"key": free}}},
		Others: []map[string]any{{"spec": map[string]any{"key": taken}}, {"spec": map[string]any{}, "status": map[string]any{"key": served}}},
	})
	o := demand.Status{Sessions: []demand.Session{{Key: free, Model: "m"}, {Key: taken, Model: "m", Isolated: true}, {Key: served, Model: "n"}}}
	want := []external.Object{{
		APIVersion: "koldun.gorizond.io/v1", Kind: "Session", Name: demand.SessionName(o.Sessions[0]), Labels: map[string]string{"a": "b"},
		Spec: map[string]any{"nodes": 2.0, "key": free, "modelRef": map[string]any{"name": "m"}},
	}}
	if d := cmp.Diff(want, demand.Sessions().Objects(s, o)); d != "" {
		t.Error(d)
	}
	if demand.SessionName(o.Sessions[0]) == demand.SessionName(o.Sessions[1]) {
		t.Error("the Sessions of two pools have the same name")
	}
	scaled := func(name, more string) map[string]any {
		var spec map[string]any
		if err := json.Unmarshal([]byte(`{"expose": {"scaling": {}}`+more+`}`), &spec); err != nil {
			t.Fatal(err)
		}
		return map[string]any{"metadata": map[string]any{"namespace": "ns", "name": name}, "spec": spec}
	}
	for name, c := range map[string]struct {
		dllama map[string]any
		taken  bool
	}{
		"Inline":    {scaled("m", `, "model": {}`), true},
		"Model":     {scaled("d", `, "modelRef": {"name": "m"}`), true},
		"Name":      {scaled("d", `, "modelRef": {"name": "canary"}, "traffic": {"model": "m"}`), true},
		"Weight":    {scaled("d", `, "modelRef": {"name": "m"}, "traffic": {"weight": 5}`), true},
		"OtherName": {scaled("d", `, "modelRef": {"name": "m"}, "traffic": {"model": "n"}`), false},
		"Unscaled":  {scaled("m", `, "expose": {}`), false},
		"Unexposed": {scaled("m", `, "expose": null`), false},
	} {
		demand.Sessions().Note(&s, external.Existing{Beside: []map[string]any{c.dllama}})
		if got := demand.Sessions().Objects(s, demand.Status{Sessions: o.Sessions[:1]}); (len(got) == 0) != c.taken {
			t.Errorf("%s: a scaled Dllama beside the pool: got %v, taken: %v", name, got, c.taken)
		}
	}
	s.Session = nil
	if got := demand.Sessions().Objects(s, o); len(got) > 0 || demand.Sessions().Enabled(s) {
		t.Errorf("objects without a template: %v", got)
	}
}
