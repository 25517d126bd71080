package cluster

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/waittest"
)

// Namespace creates a namespace for the test, and deletes it in the background when
// the test ends.
func (ob *objects) Namespace(t testing.TB) string {
	t.Helper()
	return ob.namespace(t, metav1.ObjectMeta{GenerateName: "test-"})
}

// NamespaceCalled is Namespace with a name that no other test uses.
func (ob *objects) NamespaceCalled(t testing.TB, name string) {
	t.Helper()
	ob.namespace(t, metav1.ObjectMeta{Name: name})
}

func (ob *objects) namespace(t testing.TB, meta metav1.ObjectMeta) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: meta}
	if err := ob.client.Create(t.Context(), ns); err != nil {
		t.Fatalf("cannot create namespace: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waittest.Limit(10*time.Second))
		defer cancel()
		if err := ob.client.Delete(ctx, ns); client.IgnoreNotFound(err) != nil {
			t.Logf("cannot delete namespace %q: %v", ns.Name, err)
		}
	})
	return ns.Name
}
