package migrate

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/crds"
)

// claimSchemas returns the schemas of the claims, by kind.
func claimSchemas() (map[string]*extv1.JSONSchemaProps, error) {
	files, err := fs.Glob(crds.Files, v1.Group+"_*.yaml")
	if err != nil {
		return nil, fmt.Errorf("cannot list CRDs: %w", err)
	}
	out := map[string]*extv1.JSONSchemaProps{}
	for _, file := range files {
		d, err := crds.Definition(file)
		if err != nil {
			return nil, err
		}
		out[d.Spec.Names.Kind] = d.Spec.Versions[0].Schema.OpenAPIV3Schema
	}
	return out, nil
}

// noEffect returns why a field of a claim has no effect, if its description says so.
func noEffect(s *extv1.JSONSchemaProps) (why string, is bool) {
	return strings.CutPrefix(s.Description, "No effect: ")
}

// A filter keeps what a claim has fields for.
type filter struct {
	*record
	kind *kind
}

// keep returns the part of a value of the old object that the claim has fields for,
// and notes the rest.
func (f filter) keep(s *extv1.JSONSchemaProps, v any, path string) (any, bool) {
	if why, is := noEffect(s); is {
		f.lose(path, strings.TrimSuffix(why, "."), "")
		return nil, false
	}
	switch x := v.(type) {
	case map[string]any:
		return f.keepFields(s, x, path)
	case []any:
		if s.Items == nil || s.Items.Schema == nil {
			return v, true
		}
		out := []any{}
		for i, item := range x {
			if kept, ok := f.keep(s.Items.Schema, item, fmt.Sprintf("%s[%d]", path, i)); ok {
				out = append(out, kept)
			}
		}
		return out, true
	}
	return v, true
}

func (f filter) keepFields(s *extv1.JSONSchemaProps, x map[string]any, path string) (any, bool) {
	if len(s.Properties) == 0 && (s.AdditionalProperties == nil || s.AdditionalProperties.Schema == nil) {
		return x, true // any fields
	}
	out := map[string]any{}
	for _, name := range sorted(x) {
		at, field := child(path, name), s.Properties
		sub, known := field[name]
		switch {
		case known:
		case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
			sub = *s.AdditionalProperties.Schema
		case s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields:
			out[name] = x[name]
			continue
		default:
			f.unknown(at)
			continue
		}
		if kept, ok := f.keep(&sub, x[name], at); ok {
			out[name] = kept
		}
	}
	return out, len(out) > 0 || len(x) == 0
}

// unknown notes a field that neither the claim nor the rules of the kind know.
func (f filter) unknown(path string) {
	if f.kind.selects(path) {
		f.fail(path, fmt.Sprintf("%s has no such field, and without it more is selected", f.kind.to))
		return
	}
	f.lose(path, fmt.Sprintf("%s has no such field", f.kind.to), "")
}

func sorted[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// known reports whether a claim has a field at a path of names.
func known(s *extv1.JSONSchemaProps, path string) bool {
	for _, name := range steps(path) {
		next, ok := s.Properties[name]
		if !ok {
			return false
		}
		s = &next
	}
	return true
}
