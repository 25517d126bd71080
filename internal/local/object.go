package local

import (
	"encoding/json"
	"fmt"
	"strings"
)

// API groups with a meaning here.
const (
	CompositeGroup = "koldun.gorizond.io"   // composed by the Composer
	ManagedGroup   = "koldun.m.gorizond.io" // reconciled by Managed
)

// An Object is a Kubernetes object as decoded from JSON: maps, slices, strings,
// float64, bool and nil. Objects in arguments and results are immutable.
type Object map[string]any

// A Key identifies an object.
type Key struct {
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
}

// String returns a text such as "Job default/fetch", without a namespace for a
// cluster-scoped object.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Kind + " " + k.Name
	}
	return k.Kind + " " + k.Namespace + "/" + k.Name
}

// Group returns the API group, "" for the core group.
func (k Key) Group() string {
	group, _, found := strings.Cut(k.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// Key returns the key of the object. Missing fields are "".
func (o Object) Key() Key {
	return Key{
		APIVersion: text(o, "apiVersion"),
		Kind:       text(o, "kind"),
		Namespace:  text(o, "metadata", "namespace"),
		Name:       text(o, "metadata", "name"),
	}
}

// Decode decodes the value at the path, or the whole object without a path, by
// its JSON field names. A missing value does not change into.
func (o Object) Decode(into any, path ...string) error {
	v, ok := at(o, path...)
	if !ok {
		return nil
	}
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return fmt.Errorf("cannot decode %s of %s: %w", pathName(path), o.Key(), err)
	}
	return nil
}

// labels returns the labels of the object.
func (o Object) labels() map[string]string {
	m, _ := at(o, "metadata", "labels")
	return stringMap(m)
}

// clone returns a deep copy.
func (o Object) clone() Object { return clone(map[string]any(o)).(map[string]any) }

// NewObject converts a value to the form of an Object by way of JSON: defaults of a schema,
// for example, bring int64.
func NewObject(v any) (Object, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var o Object
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, err
	}
	return o, nil
}

// at returns the value at a path of maps, and whether it exists.
func at(v any, path ...string) (any, bool) {
	for _, name := range path {
		m, ok := fields(v)
		if !ok {
			return nil, false
		}
		if v, ok = m[name]; !ok {
			return nil, false
		}
	}
	return v, v != nil
}

func fields(v any) (map[string]any, bool) {
	if o, ok := v.(Object); ok {
		return o, true
	}
	m, ok := v.(map[string]any)
	return m, ok
}

func text(v any, path ...string) string {
	s, _ := at(v, path...)
	t, _ := s.(string)
	return t
}

func stringMap(v any) map[string]string {
	m, _ := fields(v)
	out := make(map[string]string, len(m))
	for k, v := range m {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = clone(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = clone(e)
		}
		return out
	}
	return v
}

func pathName(path []string) string {
	if len(path) == 0 {
		return "the fields"
	}
	return strings.Join(path, ".")
}
