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
)

// fieldManager of what tests apply.
const fieldManager = "koldun-test"

// servedWithin is how long a kind may take from its CRD to being served.
const servedWithin = 30 * time.Second

// Apply YAML documents on the server's side. Objects without namespace go to
// the namespace "default". A kind whose CRD was applied a moment ago is waited
// for. The error is the API server's, with the object's name.
func (c *Cluster) Apply(ctx context.Context, documents ...string) error {
	return c.ApplyIn(ctx, "default", documents...)
}

// ApplyIn is Apply with another namespace for objects without one.
func (c *Cluster) ApplyIn(ctx context.Context, namespace string, documents ...string) error {
	objects, err := Decode(documents...)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := c.apply(ctx, namespace, o); err != nil {
			return fmt.Errorf("cannot apply %s %q: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// Delete the objects of YAML documents, and in the background what they own,
// as kubectl does. What does not exist is no error.
func (c *Cluster) Delete(ctx context.Context, namespace string, documents ...string) error {
	objects, err := Decode(documents...)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := c.locate(ctx, namespace, o); err != nil {
			return fmt.Errorf("cannot delete %s %q: %w", o.GetKind(), o.GetName(), err)
		}
		if err := c.client.Delete(ctx, o, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("cannot delete %s %q: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

func (c *Cluster) apply(ctx context.Context, namespace string, o *unstructured.Unstructured) error {
	if err := c.locate(ctx, namespace, o); err != nil {
		return err
	}
	return c.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(fieldManager), client.ForceOwnership)
}

// locate waits until the kind is served, and sets the namespace if it needs
// one and has none.
func (c *Cluster) locate(ctx context.Context, namespace string, o *unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, servedWithin)
	defer cancel()
	return poll(ctx, func(context.Context) error {
		m, err := c.client.RESTMapper().RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
		if err != nil {
			return err
		}
		if m.Scope.Name() == meta.RESTScopeNameNamespace && o.GetNamespace() == "" {
			o.SetNamespace(namespace)
		}
		return nil
	})
}

// Decode YAML documents into objects. Empty documents are left out.
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
