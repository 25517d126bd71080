package providertest

import (
	"fmt"
	"maps"
	"slices"
)

// CheckUnknown checks that a valid configuration stays valid, and can be planned, with an
// unknown value in place of each of its values, at every depth: a reference to a resource
// that does not exist yet may stand anywhere. It leaves out the paths that are in checked, and
// adds the others.
func (x *Resource) CheckUnknown(config map[string]any, checked map[string]bool) {
	t := x.provider.t
	t.Helper()
	for _, at := range slices.Sorted(maps.Keys(config)) {
		unknownsOf(config[at], at, func(path string, v any) {
			if checked[path] {
				return
			}
			checked[path] = true
			changed := with(config, at, v)
			if e := x.Validate(changed); e != "" {
				t.Errorf("with an unknown %s, validation refuses %v: %s", path, changed, e)
				return
			}
			if p := x.provider.Resource(x.Type).Plan(changed); p.Errors != "" {
				t.Errorf("with an unknown %s, the plan of %v fails: %s", path, changed, p.Errors)
			}
		})
	}
}

// unknownsOf calls visit with copies of a value, each with another part replaced by Unknown,
// and with the path of that part.
func unknownsOf(v any, path string, visit func(path string, v any)) {
	visit(path, Unknown{})
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			unknownsOf(v[name], path+"."+name, func(path string, inner any) { visit(path, with(v, name, inner)) })
		}
	case []any:
		for i, e := range v {
			unknownsOf(e, fmt.Sprintf("%s[%d]", path, i), func(path string, inner any) {
				changed := slices.Clone(v)
				changed[i] = inner
				visit(path, changed)
			})
		}
	}
}
