package manager

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// TestSharedLoginIsACondition sets the field, and takes it back.
func TestSharedLoginIsACondition(t *testing.T) {
	known := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	p := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	api := fake.NewClientBuilder().WithScheme(known).WithObjects(p).WithStatusSubresource(p).Build()
	for _, c := range []struct {
		shared bool
		want   corev1.ConditionStatus
	}{{false, corev1.ConditionUnknown}, {true, corev1.ConditionTrue}, {true, corev1.ConditionTrue}, {false, corev1.ConditionFalse}} {
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			t.Fatal(err)
		}
		p.Spec.SharedLogin = c.shared
		if err := api.Update(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if _, err := (sharedLogins{api}).Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(p)}); err != nil {
			t.Fatal(err)
		}
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			t.Fatal(err)
		}
		if got := p.GetCondition(v1alpha1.ConditionSharedLogin); got.Status != c.want {
			t.Errorf("with sharedLogin %t the condition is %+v", c.shared, got)
		}
	}
	gone := ctrl.Request{NamespacedName: client.ObjectKey{Name: "gone"}}
	if _, err := (sharedLogins{api}).Reconcile(t.Context(), gone); err != nil {
		t.Errorf("one that does not exist: %v", err)
	}
}
