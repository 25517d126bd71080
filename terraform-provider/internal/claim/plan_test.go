package claim_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

// TestPlanKnowsWhatStays changes the number of threads, which must not change what
// depends on the URL. Another route has another URL.
func TestPlanKnowsWhatStays(t *testing.T) {
	w := start(t)
	w.serve("Dllama")
	config := map[string]any{"name": "steady", "model_ref": map[string]any{"name": "m"}, "expose": map[string]any{"allow_anonymous": true}}
	r := w.Resource("koldun_dllama")
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	url := func(to string) {
		t.Helper()
		obj := w.get("Dllama", "steady")
		before := obj.DeepCopy()
		if err := unstructured.SetNestedField(obj.Object, to, "status", "url"); err != nil {
			t.Fatal(err)
		}
		if err := w.cluster.Client().Status().Patch(t.Context(), obj, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
	url("http://steady.example/v1")
	r.Refresh()
	planned := func(name string) any {
		t.Helper()
		p := r.Plan(config)
		if p.Errors != "" {
			t.Fatal(p.Errors)
		}
		return attribute(t, p.State, "status", name)
	}
	config["engine"] = map[string]any{"threads": 2}
	if u, n := planned("url"), planned("nodes"); u != "http://steady.example/v1" || n != "(unknown)" {
		t.Errorf("with more threads: got URL %v and %v nodes", u, n)
	}
	config["expose"] = map[string]any{"route": map[string]any{"host": "a.example"}}
	if u := planned("url"); u != "(unknown)" {
		t.Errorf("with a route: got URL %v", u)
	}
	config["expose"] = map[string]any{"allow_anonymous": true}
	p := r.Plan(config)
	url("http://moved.example/v1") // while the plan is applied
	if e := r.ApplyPlan(p, config); e != "" {
		t.Fatal(e)
	}
	if got := attribute(t, r.State, "status", "url"); got != "http://steady.example/v1" {
		t.Errorf("state contains %v, which the plan does not", got)
	}
	r.Refresh()
	if got := attribute(t, r.State, "status", "url"); got != "http://moved.example/v1" {
		t.Errorf("state after a refresh: got %v", got)
	}
}

// attribute returns a value within an object, as JSON decodes it.
func attribute(t *testing.T, v tftypes.Value, path ...string) any {
	t.Helper()
	now := providertest.JSON(v)
	for _, name := range path {
		m, ok := now.(map[string]any)
		if !ok {
			t.Fatalf("no %q in %v", name, now)
		}
		now = m[name]
	}
	return now
}
