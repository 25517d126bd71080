package e2e_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// get reads an object.
func (ob *objects) get(ctx context.Context, namespace, apiVersion, kind, name string) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	return o, ob.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o)
}

// holds returns a check that fails with the object's conditions while the given one is
// not true.
func (ob *objects) holds(namespace, apiVersion, kind, name, condition string) func(context.Context) error {
	return func(ctx context.Context) error {
		o, err := ob.get(ctx, namespace, apiVersion, kind, name)
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

// nothingLeftIn returns a check that fails while an object of Koldun exists in the
// namespace.
func (ob *objects) nothingLeftIn(ns string) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, r := range ob.watched {
			kind, err := ob.Client().RESTMapper().KindFor(r)
			if err != nil {
				return err
			}
			mapping, err := ob.Client().RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
			if err != nil {
				return err
			}
			where := []client.ListOption{client.InNamespace(ns)}
			if mapping.Scope.Name() == meta.RESTScopeNameRoot {
				where = []client.ListOption{client.MatchingLabels{"crossplane.io/claim-namespace": ns}}
			}
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(kind)
			if err := ob.Client().List(ctx, list, where...); err != nil {
				return err
			}
			for _, o := range list.Items {
				if o.GetKind() != "Service" || o.GetName() != "kubernetes" {
					return fmt.Errorf("%d objects of kind %s remain, such as %q", len(list.Items), kind.Kind, o.GetName())
				}
			}
		}
		return nil
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
