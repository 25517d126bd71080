package manager_test

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// TestCreationIsTwoWrites: each write of a resource is an event for the composite
// that has composed it, and Crossplane bounds those.
func TestCreationIsTwoWrites(t *testing.T) {
	w := newWorld(t)
	first := stream(w, "FIRST")
	w.create(first)
	w.ready(first) // the provider knows the connection
	c, err := client.NewWithWatch(w.cluster.Config(), client.Options{Scheme: w.client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	seen, err := c.Watch(t.Context(), &v1alpha1.KeyValueList{}, client.InNamespace(w.ns))
	if err != nil {
		t.Fatal(err)
	}
	defer seen.Stop()
	m := keyValue(w, "composed", xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate)
	m.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection"}
	w.create(m)
	w.ready(m)
	w.secret("connection", map[string]string{"NATS_URL": w.nats.URL(), "NATS_USER": "koldun", "NATS_PASSWORD": "test-password"})
	writes := 0
	for event := range seen.ResultChan() {
		if event.Type == watch.Modified {
			writes++
		}
		if got, ok := event.Object.(*v1alpha1.KeyValue); ok && got.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
			break
		}
	}
	if writes != 2 {
		t.Errorf("it was written %d times, want twice: its finalizer, and what was found", writes)
	}
}
