package migrate

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestEveryField converts manifests with all fields of each old kind. A field either
// changes the claims, or a note names it: nothing is dropped silently.
func TestEveryField(t *testing.T) {
	files, err := filepath.Glob("testdata/fields/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no manifests: %v", err)
	}
	m := newMigrator(t, Options{})
	seen := map[string]bool{}
	for _, file := range files {
		for _, d := range readFile(t, file) {
			whole := convert(t, m, d)
			if len(whole.Objects) == 0 {
				t.Errorf("%s: it becomes nothing: %v", file, whole.Notes)
				continue
			}
			group, _, _ := strings.Cut(fmt.Sprint(d.Object["apiVersion"]), "/")
			seen[group+"/"+fmt.Sprint(d.Object["kind"])] = true
			for _, path := range leaves(d.Object["spec"], "spec") {
				if named(whole.Notes, path) {
					continue
				}
				without := *d
				without.Object = copyOf(d.Object)
				remove(without.Object, path)
				r, err := m.Convert(t.Context(), &without)
				if err == nil && reflect.DeepEqual(r.Objects, whole.Objects) {
					t.Errorf("%s: %s changes nothing and no note names it", file, path)
				}
			}
		}
	}
	for _, k := range kinds() {
		if !slices.ContainsFunc(k.groups, func(g string) bool { return seen[g+"/"+k.name] }) {
			t.Errorf("no manifest has the fields of %s of %q", k.name, k.groups)
		}
	}
	for _, name := range []string{"Model", "Dllama", "Root", "Worker"} {
		if !seen[groupKold+"/"+name] {
			t.Errorf("no manifest has the fields of %s of kold", name)
		}
	}
}

// named reports whether a note is about the field, or about one around it.
func named(notes []Note, path string) bool {
	for _, n := range notes {
		if n.Path != "" && (n.Path == path || strings.HasPrefix(path, n.Path+".") || strings.HasPrefix(path, n.Path+"[")) {
			return true
		}
	}
	return false
}

func leaves(v any, path string) []string {
	var out []string
	switch x := v.(type) {
	case map[string]any:
		for _, name := range sorted(x) {
			out = append(out, leaves(x[name], child(path, name))...)
		}
		return out
	case []any:
		for i, item := range x {
			out = append(out, leaves(item, fmt.Sprintf("%s[%d]", path, i))...)
		}
		return out
	}
	return []string{path}
}

func newMigrator(t *testing.T, o Options) *Migrator {
	t.Helper()
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func readFile(t *testing.T, name string) []*Document {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := Read(name, strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func convert(t *testing.T, m *Migrator, d *Document) Result {
	t.Helper()
	r, err := m.Convert(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
