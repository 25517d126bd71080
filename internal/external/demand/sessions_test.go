package demand_test

import (
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
	s.Session = nil
	if got := demand.Sessions().Objects(s, o); len(got) > 0 || demand.Sessions().Enabled(s) {
		t.Errorf("objects without a template: %v", got)
	}
}
