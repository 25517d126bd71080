package workload

import "github.com/gorizond/koldun/internal/names"

// LabelComponent is the component that a pod is of.
const LabelComponent = "koldun.gorizond.io/component"

// Labels of the objects of one component of one owner. Values are bounded.
func Labels(component, kind, owner string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":       "koldun",
		"app.kubernetes.io/managed-by": "koldun",
		LabelComponent:                 component,
		label(kind):                    names.Join(names.MaxLabel, owner),
		"app.kubernetes.io/instance":   names.Join(names.MaxLabel, owner),
		"app.kubernetes.io/component":  component,
	}
}

// Owner is the label that all components of one owner share.
func Owner(kind, owner string) map[string]string {
	return map[string]string{label(kind): names.Join(names.MaxLabel, owner)}
}

// label names the owner of a kind.
func label(kind string) string { return "koldun.gorizond.io/" + kind }
