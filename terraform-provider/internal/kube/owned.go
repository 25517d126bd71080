package kube

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// An Ownership is the part of an object that one field manager has written.
type Ownership struct {
	Spec                map[string]any
	Labels, Annotations map[string]any // nil: none
}

// Owned returns the part of an object that Terraform has applied. If it has
// applied none, that is all of the spec that differs from the schema's defaults.
func Owned(obj *unstructured.Unstructured, spec *crd.Field) Ownership {
	have, _, _ := unstructured.NestedMap(obj.Object, "spec")
	fields, others := applied(obj)
	if fields == nil {
		mine, _ := written(spec, have).(map[string]any)
		return Ownership{Spec: mine}
	}
	mine, _ := choose(spec, have, below(fields, "spec"), each(others, "spec")).(map[string]any)
	meta := below(fields, "metadata")
	return Ownership{
		Spec:        mine,
		Labels:      keys(obj.GetLabels(), below(meta, "labels")),
		Annotations: keys(obj.GetAnnotations(), below(meta, "annotations")),
	}
}

// applied returns the fields of our field manager and those of the others, as
// fieldsV1.
func applied(obj *unstructured.Unstructured) (ours map[string]any, others []map[string]any) {
	for _, m := range obj.GetManagedFields() {
		var fields map[string]any
		if m.FieldsV1 == nil || json.Unmarshal(m.FieldsV1.Raw, &fields) != nil {
			continue
		}
		if m.Manager == FieldManager && m.Operation == metav1.ManagedFieldsOperationApply {
			ours = fields
		} else {
			others = append(others, fields)
		}
	}
	return ours, others
}

func below(fields map[string]any, name string) map[string]any {
	m, _ := fields["f:"+name].(map[string]any)
	return m
}

func each(all []map[string]any, name string) []map[string]any {
	out := make([]map[string]any, 0, len(all))
	for _, fields := range all {
		out = append(out, below(fields, name))
	}
	return out
}

// choose returns the part of a value that the fields name. It takes a field
// without fields below as it was written, and whole elements of lists. The API
// server records no owner of an empty list with keys: an empty value that others
// do not own is ours.
func choose(f *crd.Field, have any, fields map[string]any, others []map[string]any) any {
	m, ok := have.(map[string]any)
	if !ok || f == nil {
		return filled(f, have)
	}
	named := false
	out := map[string]any{}
	for key, sub := range fields {
		name, ok := strings.CutPrefix(key, "f:")
		if !ok {
			continue
		}
		named = true
		v, ok := m[name]
		if !ok {
			continue
		}
		s, _ := sub.(map[string]any)
		out[name] = choose(child(f, name), v, s, each(others, name))
	}
	if !named {
		if v := written(f, have); v != nil {
			return v
		}
	}
	for name, v := range m {
		theirs := func(fields map[string]any) bool { _, ok := fields["f:"+name]; return ok }
		c := child(f, name)
		if _, ok := out[name]; ok || c == nil || slices.ContainsFunc(others, theirs) {
			continue
		}
		if v = written(c, v); v != nil && hollow(v) {
			out[name] = v
		}
	}
	return out
}

// filled returns a value without empty strings in elements of lists where the schema
// has them as a default: who leaves out the name of a reference gets "".
func filled(f *crd.Field, have any) any {
	switch v := have.(type) {
	case []any:
		if f == nil || f.Type != crd.List {
			return have
		}
		out := make([]any, 0, len(v))
		for _, e := range v {
			out = append(out, filled(f.Elem, e))
		}
		return out
	case map[string]any:
		if f == nil || f.Type != crd.Object {
			return have
		}
		out := make(map[string]any, len(v))
		for name, e := range v {
			if c := f.Child(name); e != "" || c == nil || c.Default != "" {
				out[name] = filled(c, e)
			}
		}
		return out
	}
	return have
}

// hollow reports whether a value has nothing but empty lists and maps.
func hollow(v any) bool {
	switch x := v.(type) {
	case []any:
		return len(x) == 0
	case map[string]any:
		for _, e := range x {
			if !hollow(e) {
				return false
			}
		}
		return true
	}
	return false
}

func child(f *crd.Field, name string) *crd.Field {
	if f.Type == crd.Map {
		return f.Elem
	}
	return f.Child(name)
}

// written returns a value without the values that the schema's defaults set.
func written(f *crd.Field, have any) any {
	if l, ok := have.([]any); ok && f.Type == crd.List && f.Elem.Type == crd.Object {
		out := make([]any, 0, len(l))
		for _, e := range l {
			out = append(out, written(f.Elem, e))
		}
		return out
	}
	m, ok := have.(map[string]any)
	if !ok || f.Type != crd.Object {
		if f.Default != nil && same(f.Default, have) {
			return nil
		}
		return have
	}
	out := map[string]any{}
	for _, c := range f.Fields {
		v, ok := m[c.Name]
		if !ok {
			continue
		}
		if v = written(c, v); v != nil {
			out[c.Name] = v
		}
	}
	if len(out) == 0 && f.Default != nil {
		return nil
	}
	return out
}

func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

func keys(have map[string]string, fields map[string]any) map[string]any {
	var out map[string]any
	for key := range fields {
		if name, ok := strings.CutPrefix(key, "f:"); ok {
			if out == nil {
				out = map[string]any{}
			}
			out[name] = have[name]
		}
	}
	return out
}
