package cluster

import (
	"context"
	"fmt"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/waittest"
)

// awaitServed waits until the API server serves the kinds of the CRDs among YAML documents:
// it discovers them some time after they are applied.
func (ob *objects) awaitServed(ctx context.Context, documents ...string) error {
	objects, err := Decode(documents...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(servedWithin))
	defer cancel()
	for _, o := range objects {
		if o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		var crd extv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd); err != nil {
			return fmt.Errorf("cannot read CRD %q: %w", o.GetName(), err)
		}
		for _, v := range crd.Spec.Versions {
			if !v.Served {
				continue
			}
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind + "List"})
			serves := func(ctx context.Context) error { return ob.client.List(ctx, list, client.Limit(1)) }
			if err := Poll(ctx, serves); err != nil {
				return fmt.Errorf("cannot list objects of CRD %q: %w", o.GetName(), err)
			}
		}
	}
	return nil
}
