package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/waittest"
)

// fieldManager is the field manager of objects that tests apply.
const fieldManager = "koldun-test"

// servedWithin is the time limit for serving a kind after its CRD was applied.
const servedWithin = 30 * time.Second

// Apply applies YAML documents with server-side apply. Namespaced objects without a
// namespace go to "default". Apply waits until the API server serves their kinds. The
// error is the API server's, with the object's name.
func (ob *objects) Apply(ctx context.Context, documents ...string) error {
	return ob.ApplyIn(ctx, "default", documents...)
}

// ApplyIn is like Apply, with another default namespace.
func (ob *objects) ApplyIn(ctx context.Context, namespace string, documents ...string) error {
	objects, err := Decode(documents...)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := ob.apply(ctx, namespace, o); err != nil {
			return fmt.Errorf("cannot apply %s %q: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// Delete deletes the objects of YAML documents, and in the background their
// dependents, as kubectl does. Missing objects are no error.
func (ob *objects) Delete(ctx context.Context, namespace string, documents ...string) error {
	objects, err := Decode(documents...)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := ob.locate(ctx, namespace, o); err != nil {
			return fmt.Errorf("cannot delete %s %q: %w", o.GetKind(), o.GetName(), err)
		}
		if err := ob.client.Delete(ctx, o, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("cannot delete %s %q: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

func (ob *objects) apply(ctx context.Context, namespace string, o *unstructured.Unstructured, more ...client.ApplyOption) error {
	if err := ob.locate(ctx, namespace, o); err != nil {
		return err
	}
	return ob.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), append(more, client.FieldOwner(fieldManager), client.ForceOwnership)...)
}

// Accept returns why the API server would refuse objects, which it does not store: the
// joined errors of a dry run, with the names of the objects.
func (ob *objects) Accept(ctx context.Context, namespace string, documents ...string) error {
	objects, err := Decode(documents...)
	if err != nil {
		return err
	}
	var refused []error
	for _, o := range objects {
		if err := ob.apply(ctx, namespace, o, client.DryRunAll); err != nil {
			refused = append(refused, fmt.Errorf("%s %q: %w", o.GetKind(), o.GetName(), err))
		}
	}
	return errors.Join(refused...)
}

// locate waits until the API server serves the kind, and sets the namespace of a
// namespaced object without one.
func (ob *objects) locate(ctx context.Context, namespace string, o *unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(servedWithin))
	defer cancel()
	return Poll(ctx, func(context.Context) error {
		m, err := ob.client.RESTMapper().RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
		if err != nil {
			return err
		}
		if m.Scope.Name() == meta.RESTScopeNameNamespace && o.GetNamespace() == "" {
			o.SetNamespace(namespace)
		}
		return nil
	})
}

// Decode decodes YAML documents into objects. It skips empty documents.
func Decode(documents ...string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, doc := range documents {
		d := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(doc), 4096)
		for {
			var fields map[string]any
			err := d.Decode(&fields)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("cannot decode manifest: %w", err)
			}
			if len(fields) > 0 {
				out = append(out, &unstructured.Unstructured{Object: fields})
			}
		}
	}
	return out, nil
}
