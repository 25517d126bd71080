package simulate

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// Fields that Koldun's provider writes on a managed resource.
const (
	finalizer    = "finalizer.managedresource.crossplane.io"
	externalName = "crossplane.io/external-name"
)

// prepare updates the metadata of a resource as the provider does before it acts,
// and reports whether there was a change.
func prepare(obj *unstructured.Unstructured) bool {
	finalizers := obj.GetFinalizers()
	has := slices.Contains(finalizers, finalizer)
	if obj.GetDeletionTimestamp() != nil {
		obj.SetFinalizers(slices.DeleteFunc(finalizers, func(f string) bool { return f == finalizer }))
		return has
	}
	if has || !deletes(obj) {
		return false
	}
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[externalName] = obj.GetName()
	obj.SetAnnotations(annotations)
	obj.SetFinalizers(append(finalizers, finalizer))
	return true
}

// deletes reports whether deleting a resource deletes an external resource. The
// provider adds no finalizer to other composed resources.
func deletes(obj *unstructured.Unstructured) bool {
	policies, given, _ := unstructured.NestedStringSlice(obj.Object, "spec", "managementPolicies")
	return !v1alpha1.ObserveOnly(obj.GetKind()) &&
		(!given || slices.Contains(policies, "*") || slices.Contains(policies, "Delete"))
}

// setStatus sets what was observed, and the conditions Synced and Ready.
func setStatus(obj *unstructured.Unstructured, seen Observation) error {
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Available"}
	if seen.Unready != "" {
		ready = metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Unavailable", Message: seen.Unready}
	}
	if seen.AtProvider != nil {
		fields, err := tree(seen.AtProvider)
		if err == nil {
			err = unstructured.SetNestedMap(obj.Object, fields, "status", "atProvider")
		}
		if err != nil {
			return fmt.Errorf("cannot report observation of %s %q: %w", obj.GetKind(), obj.GetName(), err)
		}
	}
	synced := metav1.Condition{Type: "Synced", Status: metav1.ConditionTrue, Reason: "ReconcileSuccess"}
	return setConditions(obj, ready, synced)
}

// setConditions sets the given conditions and keeps all others.
func setConditions(obj *unstructured.Unstructured, want ...metav1.Condition) error {
	list, _, err := unstructured.NestedSlice(obj.Object, "status", "conditions")
	if err != nil {
		return fmt.Errorf("cannot read conditions of %s %q: %w", obj.GetKind(), obj.GetName(), err)
	}
	for _, w := range want {
		fields := map[string]any{
			"type": w.Type, "status": string(w.Status), "reason": w.Reason,
			"lastTransitionTime": metav1.Now().UTC().Format(time.RFC3339),
			"observedGeneration": obj.GetGeneration(),
		}
		if w.Message != "" {
			fields["message"] = w.Message
		}
		at := -1
		for i, c := range list {
			if m, ok := c.(map[string]any); ok && m["type"] == w.Type {
				at = i
			}
		}
		if at < 0 {
			list = append(list, fields)
			continue
		}
		old := list[at].(map[string]any)
		if old["status"] == fields["status"] {
			fields["lastTransitionTime"] = old["lastTransitionTime"]
		}
		list[at] = fields
	}
	return unstructured.SetNestedSlice(obj.Object, list, "status", "conditions")
}

// tree converts v to the types of JSON, with int64 for whole numbers.
func tree(v any) (map[string]any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	return fields, json.Unmarshal(raw, &fields)
}

// connect creates the connection Secret if it does not exist.
func connect(ctx context.Context, client dynamic.Interface, obj *unstructured.Unstructured, values map[string]string) error {
	name, _, _ := unstructured.NestedString(obj.Object, "spec", "writeConnectionSecretToRef", "name")
	if name == "" || len(values) == 0 {
		return nil
	}
	data := map[string]any{}
	for k, v := range values {
		data[k] = v
	}
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "connection.crossplane.io/v1alpha1", "stringData": data,
	}}
	secret.SetName(name)
	secret.SetNamespace(obj.GetNamespace())
	secret.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(obj, obj.GroupVersionKind())})
	_, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).
		Namespace(obj.GetNamespace()).Create(ctx, secret, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot write connection Secret %q: %w", name, err)
	}
	return nil
}
