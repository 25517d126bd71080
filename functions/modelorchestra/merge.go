package modelorchestra

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
)

// replaced are the fields of an application that replace those of the template as a
// whole: half of one source or handler and half of another make none.
var replaced = []string{"engine", "livenessProbe", "modelRef", "modelsVolume", "readinessProbe", "startupProbe"} //nolint:gochecknoglobals // a constant in all but syntax

// mergeApplication merges an application into the template: the application wins, field
// by field. Lists replace lists, but for env, which is merged by name.
func mergeApplication(template, a v1.OrchestraApplication) (v1.OrchestraApplication, error) {
	var out v1.OrchestraApplication
	base, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&template)
	if err != nil {
		return out, fmt.Errorf("cannot encode applicationTemplate: %w", err)
	}
	over, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&a)
	if err != nil {
		return out, fmt.Errorf("cannot encode application: %w", err)
	}
	env := mergeEnv(base["env"], over["env"])
	for _, field := range replaced {
		if _, ok := over[field]; ok {
			delete(base, field)
		}
	}
	mergeFields(base, over)
	if len(env) > 0 {
		base["env"] = env
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(base, &out); err != nil {
		return out, fmt.Errorf("cannot merge application with applicationTemplate: %w", err)
	}
	return out, nil
}

// mergeFields merges over into base.
func mergeFields(base, over map[string]any) {
	for name, value := range over {
		inner, ok := value.(map[string]any)
		into, had := base[name].(map[string]any)
		if ok && had {
			mergeFields(into, inner)
			continue
		}
		base[name] = value
	}
}

// mergeEnv returns the variables of base that over does not have, and those of over.
func mergeEnv(base, over any) []any {
	variables, _ := base.([]any)
	wins, _ := over.([]any)
	variables = slices.DeleteFunc(slices.Clone(variables), func(v any) bool {
		return slices.ContainsFunc(wins, func(w any) bool { return nameOf(w) == nameOf(v) })
	})
	return append(variables, wins...)
}

func nameOf(v any) string {
	m, _ := v.(map[string]any)
	name, _ := m["name"].(string)
	return name
}

// union returns the entries of both; those of wins come first where both have a key.
func union(m, wins map[string]string) map[string]string {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, wins)
	return out
}
