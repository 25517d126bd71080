package parity

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/managed"
)

// A manager is one program that manages a resource. Its methods fail the test on
// errors.
type manager interface {
	// apply creates or changes the resource, and returns when the program reports
	// that it is ready.
	apply(spec map[string]any)
	// reobserve observes a resource that matches its spec, which must write nothing.
	reobserve(spec map[string]any)
	// refused is apply of a spec that fails with an error that contains why.
	refused(spec map[string]any, why string)
	// delete returns when the program reports that the resource is deleted.
	delete()
}

// A program opens its manager for a scenario.
type program struct {
	name string
	open func(*testing.T, *servers, scenario) manager
}

// programs returns the programs that can manage the resource of a scenario.
func programs(c scenario) []program {
	out := []program{{"Crossplane", newCrossplane}, {"Terraform", newTerraform}}
	if c.resource != "node_label_rule" && !c.operated() { // koldun up has no nodes
		out = append(out, program{"Up", newUp})
	}
	return out
}

// TestParity runs each scenario with all programs, and compares the contents of
// the servers after every step.
func TestParity(t *testing.T) {
	for _, c := range scenarios() {
		t.Run(c.resource+"/"+c.name, func(t *testing.T) {
			if c.resource != "node_label_rule" { // all of them label the same nodes
				t.Parallel()
			}
			seen := map[string][]snapshot{}
			for _, p := range programs(c) {
				t.Run(p.name, func(t *testing.T) { seen[p.name] = run(t, c, p.open) })
			}
			if t.Failed() {
				return // nothing to compare
			}
			for _, p := range programs(c)[1:] {
				for i, first := range seen["Crossplane"] {
					for _, d := range differences(first.contents, seen[p.name][i].contents) {
						t.Errorf("koldun_%s, scenario %s, after %q, Crossplane against %s: %s", c.resource, c.name, first.after, p.name, d)
					}
				}
			}
		})
	}
}

// A snapshot is the contents of the servers after a step.
type snapshot struct {
	after    string
	contents map[string]string
}

// run runs the scenario with one program on its own servers.
func run(t *testing.T, c scenario, open func(*testing.T, *servers, scenario) manager) []snapshot {
	s := newServers(t)
	if c.prepare != nil {
		c.prepare(s)
	}
	f := open(t, s, c)
	var out []snapshot
	look := func(after string) { out = append(out, snapshot{after, s.contents()}) }
	before := s.contents()
	for _, step := range c.steps {
		if step.refused != "" {
			f.refused(step.spec, step.refused)
			look(step.name)
			continue
		}
		f.apply(step.spec)
		look(step.name)
		contents, writes := s.contents(), s.writes()
		f.reobserve(step.spec)
		if d := append(differences(contents, s.contents()), differences(writes, s.writes())...); len(d) > 0 {
			t.Errorf("an observation after %q changes:\n%s", step.name, strings.Join(d, "\n"))
		}
	}
	f.delete()
	look("delete")
	if !slices.ContainsFunc(out, func(s snapshot) bool { return len(differences(before, s.contents)) > 0 }) && c.steps[0].refused == "" {
		t.Error("the scenario changes nothing on the servers")
	}
	return out
}

// TestEveryKindHasAScenario checks that the scenarios set all fields of every kind
// that Terraform offers.
func TestEveryKindHasAScenario(t *testing.T) {
	for _, k := range managed.Kinds() {
		c, err := crd.Load(crd.Managed, k.Plural)
		if err != nil {
			t.Fatal(err)
		}
		used, steps := map[string]bool{}, map[string]bool{}
		for _, s := range scenarios() {
			if s.plural != k.Plural {
				continue
			}
			mark(used, c.Spec, "spec", s.manifest)
			for _, step := range s.steps {
				steps[step.name] = true
				mark(used, c.Spec, "spec", step.spec)
			}
		}
		for _, name := range []string{minimal, full, changed} {
			if !steps[name] {
				t.Errorf("koldun_%s has no step %q", k.Name, name)
			}
		}
		c.Spec.Walk("spec", func(path string, f *crd.Field) {
			why, exempt := uncompared()[k.Name+"."+strings.TrimPrefix(path, "spec.")]
			if path != "spec" && !strings.HasSuffix(path, "[*]") && used[path] == exempt {
				t.Errorf("koldun_%s: %s: got compared %v with the exemption %q, want one of them", k.Name, path, used[path], why)
			}
		})
	}
}

// mark marks the paths of all fields that a value sets.
func mark(used map[string]bool, f *crd.Field, path string, v any) {
	switch x := v.(type) {
	case map[string]any:
		for name, e := range x {
			if c := f.Child(name); c != nil {
				used[path+"."+name] = true
				mark(used, c, path+"."+name, e)
			}
		}
	case []any:
		for _, e := range x {
			mark(used, f.Elem, path+"[*]", e)
		}
	}
}

// differences describes each key with different values.
func differences(a, b map[string]string) []string {
	names := maps.Clone(a)
	maps.Copy(names, b)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if x, y := a[name], b[name]; x != y {
			out = append(out, name+": "+show(x)+" against "+show(y))
		}
	}
	return out
}

func show(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func TestDifferencesAreNamed(t *testing.T) {
	got := differences(map[string]string{"a": "1", "b": "2", "c": "3"}, map[string]string{"a": "1", "b": "4"})
	if want := []string{"b: 2 against 4", "c: 3 against nothing"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
