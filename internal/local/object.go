package local

import (
	"encoding/json"
	"fmt"
	"strings"
)

// API groups with a meaning here.
const (
	CompositeGroup = "koldun.gorizond.io"   // expanded by the Composer
	ManagedGroup   = "koldun.m.gorizond.io" // brought about by Managed
)

// An Object is a Kubernetes object as JSON decodes it: maps, slices, strings,
// float64, bool and nil, nothing else. Objects that are handed over are not
// changed any more, by either side.
type Object map[string]any

// A Key tells objects apart.
type Key struct {
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
}

// String is for people: "Job default/fetch".
func (k Key) String() string { return k.Kind + " " + k.Namespace + "/" + k.Name }

// Group is the API group, "" for the core group.
func (k Key) Group() string {
	group, _, found := strings.Cut(k.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// Key is what the object is known by. Fields that it lacks are "".
func (o Object) Key() Key {
	return Key{
		APIVersion: text(o, "apiVersion"),
		Kind:       text(o, "kind"),
		Namespace:  text(o, "metadata", "namespace"),
		Name:       text(o, "metadata", "name"),
	}
}

// Decode decodes the value at the path, or the whole object if there is none,
// by its JSON field names. What is not there leaves into as it is.
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

// labels of the object.
func (o Object) labels() map[string]string {
	m, _ := at(o, "metadata", "labels")
	return stringMap(m)
}

// clone is a deep copy.
func (o Object) clone() Object { return clone(map[string]any(o)).(map[string]any) }

// normal gives any value that JSON can express the form of an Object.
func normal(v any) (Object, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var o Object
	return o, json.Unmarshal(raw, &o)
}

// at walks down maps. It is false if something on the way is not there.
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
