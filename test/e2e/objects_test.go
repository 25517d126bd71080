package e2e_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// get an object.
func (p *proof) get(ctx context.Context, namespace, apiVersion, kind, name string) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	return o, p.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o)
}

// holds reports what an object says of itself while a condition is not true.
func (p *proof) holds(namespace, apiVersion, kind, name, condition string) func(context.Context) error {
	return func(ctx context.Context) error {
		o, err := p.get(ctx, namespace, apiVersion, kind, name)
		if err != nil {
			return err
		}
		if conditionOf(o, condition)["status"] == "True" {
			return nil
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		return fmt.Errorf("%s is not true of %s %q: %v", condition, kind, name, conditions)
	}
}

func conditionOf(o *unstructured.Unstructured, condition string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, v := range conditions {
		if m, ok := v.(map[string]any); ok && m["type"] == condition {
			return m
		}
	}
	return nil
}
