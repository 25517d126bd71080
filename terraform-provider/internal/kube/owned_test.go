package kube_test

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/kube"
)

// The API server records no owner of an empty list with keys, nor of an object that
// has only such lists and what the schema's defaults add.
func TestOwnedKeepsEmptyValues(t *testing.T) {
	env := &crd.Field{Name: "env", Type: crd.List, Elem: &crd.Field{Type: crd.Object, Fields: []*crd.Field{{Name: "name", Type: crd.String}}}}
	delivery := &crd.Field{Name: "delivery", Type: crd.String, Default: "Stream"}
	secrets := &crd.Field{Name: "secrets", Type: crd.List, Elem: &crd.Field{Type: crd.Object, Fields: []*crd.Field{{Name: "name", Type: crd.String, Default: ""}, {Name: "key", Type: crd.String}}}}
	spec := &crd.Field{Type: crd.Object, Fields: []*crd.Field{
		{Name: "host", Type: crd.String}, env, secrets, {Name: "backend", Type: crd.Object, Fields: []*crd.Field{env, delivery}},
	}}
	for name, c := range map[string]struct {
		have, want map[string]any
		theirs     string
	}{
		"list": {
			have: map[string]any{"host": "a", "env": []any{}},
			want: map[string]any{"host": "a", "env": []any{}},
		},
		"list in an object with a default": {
			have: map[string]any{"host": "a", "backend": map[string]any{"env": []any{}, "delivery": "Stream"}},
			want: map[string]any{"host": "a", "backend": map[string]any{"env": []any{}}},
		},
		"reference without a name": {
			have: map[string]any{"host": "a", "secrets": []any{map[string]any{"name": ""}, map[string]any{"name": "b", "key": ""}}},
			want: map[string]any{"host": "a", "secrets": []any{map[string]any{}, map[string]any{"name": "b", "key": ""}}},
		},
		"object of another manager": {
			have:   map[string]any{"host": "a", "backend": map[string]any{"env": []any{}, "delivery": "Stream"}},
			theirs: `{"f:spec":{"f:backend":{}}}`,
			want:   map[string]any{"host": "a"},
		},
		"object with a value that Terraform did not apply": {
			have: map[string]any{"host": "a", "backend": map[string]any{"env": []any{}, "delivery": "Pull"}},
			want: map[string]any{"host": "a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &unstructured.Unstructured{Object: map[string]any{"spec": c.have}}
			managed := []metav1.ManagedFieldsEntry{{
				Manager: kube.FieldManager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:host":{},"f:secrets":{}}}`)},
			}}
			if c.theirs != "" {
				managed = append(managed, metav1.ManagedFieldsEntry{Manager: "other", Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: &metav1.FieldsV1{Raw: []byte(c.theirs)}})
			}
			obj.SetManagedFields(managed)
			if got := kube.Owned(obj, spec).Spec; !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
