package compose

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// Template returns the template of the objects that a managed resource creates:
// with these labels and annotations, and a spec without some of its fields.
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
	// Empty objects are left out, so that the schema's defaults apply.
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
