package compose

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// Template is what a managed resource makes objects of: with these labels and
// annotations, and a spec that lacks some of its fields.
func Template(labels, annotations map[string]string, spec any, without ...string) (*v1alpha1.ObjectTemplate, error) {
	raw, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("cannot encode template: %w", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("cannot encode template: %w", err)
	}
	for _, name := range without {
		delete(fields, name)
	}
	// What says nothing is left out, so that the schema's defaults apply.
	for name, value := range fields {
		if string(value) == "{}" {
			delete(fields, name)
		}
	}
	if raw, err = json.Marshal(fields); err != nil { // sorted: the same bytes each time
		return nil, fmt.Errorf("cannot encode template: %w", err)
	}
	return &v1alpha1.ObjectTemplate{Labels: labels, Annotations: annotations, Spec: &runtime.RawExtension{Raw: raw}}, nil
}
