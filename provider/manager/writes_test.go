package manager_test

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// TestComposedResourcesAreWrittenOnce counts the writes of composed resources:
// each one is an event for the composite, and Crossplane limits their rate. A
// resource with an external resource to delete is written twice, once for its
// finalizer.
func TestComposedResourcesAreWrittenOnce(t *testing.T) {
	w := newTenant(t)
	first := stream(w, "FIRST")
	w.create(first)
	w.resources.ready(first) // the provider has opened the connection
	c, err := client.NewWithWatch(w.cluster.Config(), client.Options{Scheme: w.client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	composite := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "composite"}}
	w.create(composite)
	adopts := []xpv2.ManagementAction{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
	for name, want := range map[string]int{"kept": 1, "deleted": 2} {
		seen, err := c.Watch(t.Context(), &v1alpha1.KeyValueList{}, client.InNamespace(w.ns))
		if err != nil {
			t.Fatal(err)
		}
		m := keyValue(w, name, adopts...)
		if m.Name = name; want == 2 {
			m.Spec.ManagementPolicies = append(m.Spec.ManagementPolicies, xpv2.ManagementActionDelete)
		}
		m.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(composite, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
		m.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: name}
		w.create(m)
		w.resources.ready(m)
		w.secret(name, map[string]string{"NATS_URL": w.account.server.URL()})
		writes := 0
		for event := range seen.ResultChan() {
			got, ok := event.Object.(*v1alpha1.KeyValue)
			if !ok || got.Name != name {
				continue
			}
			if event.Type == watch.Modified {
				writes++
			}
			if got.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
				break
			}
		}
		seen.Stop()
		if writes != want {
			t.Errorf("%s: got %d writes, want %d", name, writes, want)
		}
		if _, err := w.account.bus().JetStream().KeyValue(t.Context(), name); err != nil {
			t.Error(err)
		}
		w.delete(m)
		w.gone(m)
		if _, err := w.account.bus().JetStream().KeyValue(t.Context(), name); (err == nil) != (want == 1) {
			t.Errorf("bucket %q after the deletion of its resource: %v", name, err)
		}
	}
}
