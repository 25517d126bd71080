package e2e_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/test/cluster"
)

// compare returns the differences between objects and a golden file. Additional fields
// do not count, because the API server adds some.
func compare(t *testing.T, golden string, got map[string]*unstructured.Unstructured) (differences []string) {
	t.Helper()
	documents, err := cluster.Decode(golden)
	if err != nil {
		t.Fatal(err)
	}
	rest := map[string]bool{}
	for key := range got {
		rest[key] = true
	}
	for _, want := range documents[1:] { // skip the claim
		key := identity(want)
		o, ok := got[key]
		if !ok {
			differences = append(differences, key+" was never composed")
			continue
		}
		delete(rest, key)
		differences = append(differences, differ(key, plain(t, want.Object), plain(t, o.Object))...)
	}
	for key := range rest {
		differences = append(differences, key+" is not in the golden file")
	}
	return differences
}

func differ(path string, want, got any) (out []string) {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for k, v := range w {
			if k == v1.AnnotationTemplate && g[k] != nil { // golden files mask it
				continue
			}
			out = append(out, differ(path+"."+k, v, g[k])...)
		}
		return out
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			return []string{fmt.Sprintf("%s has %d items, want %d: %v", path, len(g), len(w), g)}
		}
		for i, v := range w {
			out = append(out, differ(fmt.Sprintf("%s[%d]", path, i), v, g[i])...)
		}
		return out
	}
	if !reflect.DeepEqual(want, got) {
		return []string{fmt.Sprintf("%s is %v, want %v", path, got, want)}
	}
	return nil
}

// plain converts v to the types of JSON.
func plain(t *testing.T, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
