package aideployment

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/gorizond/koldun/internal/fault"
)

// serving is the name of the engine's container.
const serving = "serving"

// patch decodes deployment.template. The container of a generic engine is the
// first one.
func (e engineSpec) patch() (corev1.PodTemplateSpec, error) {
	var out corev1.PodTemplateSpec
	t := e.d.Spec.Deployment.Template
	if t == nil {
		return out, nil
	}
	if t.Metadata != nil {
		out.Labels, out.Annotations = t.Metadata.Labels, t.Metadata.Annotations
	}
	if t.Spec != nil {
		decoder := json.NewDecoder(bytes.NewReader(t.Spec.Raw))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&out.Spec); err != nil {
			return out, fault.Errorf(fault.Invalid, "spec.deployment.template.spec: %w", err)
		}
	}
	if e.generic() && len(out.Spec.Containers) > 0 {
		out.Spec.Containers[0].Name = serving
	}
	return out, nil
}

// mergeTemplate merges a template over another one, as kubectl patch does.
func mergeTemplate(base, patch corev1.PodTemplateSpec) (corev1.PodTemplateSpec, error) {
	var out corev1.PodTemplateSpec
	original, err := json.Marshal(base)
	if err != nil {
		return out, err
	}
	change, err := json.Marshal(patch)
	if err != nil {
		return out, err
	}
	change, err = withoutNull(change)
	if err != nil {
		return out, err
	}
	merged, err := strategicpatch.StrategicMergePatch(original, change, corev1.PodTemplateSpec{})
	if err != nil {
		return out, fault.Errorf(fault.Invalid, "spec.deployment.template: cannot merge it: %w", err)
	}
	if err := json.Unmarshal(merged, &out); err != nil {
		return out, err
	}
	takeWhole(&out, patch)
	return out, nil
}

// withoutNull removes what Go writes for fields that are not given: a null, or the
// empty resources of a container, would delete what is there.
func withoutNull(raw []byte) ([]byte, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	return json.Marshal(clean(v))
}

func clean(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for key, e := range x {
			x[key] = clean(e)
		}
		maps.DeleteFunc(x, func(_ string, e any) bool { return e == nil })
	case []any:
		for i := range x {
			x[i] = clean(x[i])
		}
	}
	return v
}

// container returns the engine's container.
func container(t *corev1.PodTemplateSpec) *corev1.Container {
	i := slices.IndexFunc(t.Spec.Containers, func(c corev1.Container) bool { return c.Name == serving })
	return &t.Spec.Containers[i]
}
