package managed_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/terraform-provider/internal/managed"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

// TestEveryPermutation creates each resource with omitted, empty and set optional
// attributes: plans after apply, refresh and import, by id and by identity, are
// empty. The data source returns the same as an import.
func TestEveryPermutation(t *testing.T) {
	for name, s := range subjects() {
		t.Run(name, func(t *testing.T) {
			kind, _, _ := strings.Cut(name, " ")
			providertest.OneKind(t, kind, "koldun_stream")
			begin := s.start
			if begin == nil {
				begin = func(t *testing.T) *world { t.Helper(); return start(t, nil) }
			}
			w := begin(t)
			w.furnish(t)
			checked := map[string]bool{}
			base, _ := named(s.base, filled, w.s3.Name).(map[string]any)
			for i, c := range w.Resource(kind).Permutations(base, s.samples, 32) {
				config, _ := named(c, fresh, fmt.Sprintf("perm-%d", i)).(map[string]any)
				if pauses, _ := config["backoff"].([]any); len(pauses) > 0 {
					delete(config, "ack_wait") // the server replaces it with the backoff
				}
				w.Resource(kind).CheckUnknown(config, checked)
				if w.permute(t, kind, s, config); t.Failed() {
					t.Fatalf("with %v", config)
				}
			}
		})
	}
}

// TestEveryResourceIsPermuted requires a subject for every resource of a managed kind.
func TestEveryResourceIsPermuted(t *testing.T) {
	all := subjects()
	for _, k := range managed.Kinds() {
		if _, ok := all["koldun_"+k.Name]; !ok {
			t.Errorf("koldun_%s is not permuted", k.Name)
		}
	}
}

// furnish creates what the subjects depend on.
func (w *world) furnish(t *testing.T) {
	t.Helper()
	if err := w.bus.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.bus.EnsureStream(t.Context(), bus.StreamSpec{Stream: names.Stream{Name: "of-consumers", Subjects: []string{"c.*"}}}); err != nil {
		t.Fatal(err)
	}
	if err := w.bus.EnsureKV(t.Context(), bus.KVSpec{Bucket: names.Bucket{Name: "settings"}}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) permute(t *testing.T, kind string, s subject, config map[string]any) {
	t.Helper()
	if s.prepare != nil {
		s.prepare(w, t)
	}
	r := w.Resource(kind)
	if e := r.Apply(config); e != "" {
		t.Fatalf("%v: %s", config, e)
	}
	if r.Attribute("ready") == false || r.Warnings != "" {
		t.Fatalf("%v is not ready: %v %s", config, providertest.JSON(r.State), r.Warnings)
	}
	r.CheckStable(config)
	id, identity := s.names(config)
	for i, imported := range []*providertest.Resource{w.Import(kind, id), w.ImportIdentity(kind, identity)} {
		if got := fmt.Sprint(imported.Identity()); got != fmt.Sprint(r.Identity()) {
			t.Errorf("identity: got %s, want that of the resource, %v", got, r.Identity())
		}
		outside := maps.Clone(config)
		maps.DeleteFunc(outside, func(a string, _ any) bool { return slices.Contains(s.inside, a) })
		if !s.partial {
			imported.CheckStable(outside)
		}
		if !unseen(kind) {
			w.shown(t, kind, identity, imported)
		}
		if p := imported.Plan(config); p.Errors != "" || len(p.Replace) > 0 {
			t.Errorf("plan after the import: got a replacement for %v %s", p.Replace, p.Errors)
		}
		if i > 0 && len(outside) < len(config) {
			if e := imported.Apply(config); e != "" {
				t.Fatalf("%v: %s", config, e)
			}
			imported.CheckStable(config)
		}
	}
	if e := r.Destroy(); e != "" {
		t.Fatalf("%v: %s", config, e)
	}
}

// unseen reports whether a resource has no data source: an entry may hold a secret.
func unseen(kind string) bool {
	return strings.HasPrefix(kind, "koldun_key_value_entry") ||
		slices.ContainsFunc(managed.Kinds(), func(k managed.Kind) bool { return k.Unseen && kind == "koldun_"+k.Name })
}

// names returns the id and the identity of a configured resource.
func (s subject) names(config map[string]any) (id string, identity map[string]any) {
	identity = map[string]any{}
	var parts, places []string
	for _, a := range s.identity {
		identity[a] = config[a]
		parts = append(parts, text(config[a]))
	}
	for _, a := range s.places {
		identity[a] = config[a]
		places = append(places, a+"="+text(config[a]))
	}
	id = strings.Join(parts, "/")
	if len(places) > 0 {
		id += "?" + strings.Join(places, "&")
	}
	return id, identity
}

// shown requires the data source to return the imported attributes.
func (w *world) shown(t *testing.T, kind string, identity map[string]any, imported *providertest.Resource) {
	t.Helper()
	data, e := w.Data(kind, identity)
	if e != "" {
		t.Errorf("cannot read data source %s: %s", kind, e)
	}
	for a, v := range data {
		if want := imported.Attribute(a); text(v) != text(want) {
			t.Errorf("data source: got %s %v, want the imported %v", a, v, want)
		}
	}
}

// named replaces the placeholder of a name in a value.
func named(v any, placeholder, name string) any {
	switch x := v.(type) {
	case string:
		return strings.ReplaceAll(x, placeholder, name)
	case []any:
		out := []any{}
		for _, e := range x {
			out = append(out, named(e, placeholder, name))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range x {
			out[strings.ReplaceAll(k, placeholder, name)] = named(e, placeholder, name)
		}
		return out
	}
	return v
}
