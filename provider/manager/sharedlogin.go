package manager

import (
	"context"
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// sharedLogins sets the condition SharedLogin of ClusterProviderConfigs, so that who looks at a
// connection sees that the namespaces which it serves trust each other.
type sharedLogins struct{ client client.Client }

// Reconcile sets the condition of one ClusterProviderConfig.
func (s sharedLogins) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var p v1alpha1.ClusterProviderConfig
	if err := s.client.Get(ctx, req.NamespacedName, &p); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	want, before := sharedLogin(p.Spec.SharedLogin), p.DeepCopy()
	if have := p.GetCondition(v1alpha1.ConditionSharedLogin); have.Equal(want) || have.Status == corev1.ConditionUnknown && !p.Spec.SharedLogin {
		return ctrl.Result{}, nil
	}
	p.SetConditions(want)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := client.IgnoreNotFound(s.client.Status().Patch(ctx, &p, patch)); err != nil {
		return ctrl.Result{}, fmt.Errorf("cannot set condition %s of ClusterProviderConfig %q: %w", v1alpha1.ConditionSharedLogin, p.Name, err)
	}
	return ctrl.Result{}, nil
}

// sharedLogin is the condition.
func sharedLogin(shared bool) xpv2.Condition {
	c := xpv2.Condition{
		Type: v1alpha1.ConditionSharedLogin, Status: corev1.ConditionFalse, Reason: "LoginOfNamespace", LastTransitionTime: metav1.Now(),
		Message: "No two namespaces get the same login for NATS or the object store",
	}
	if shared {
		c.Status, c.Reason = corev1.ConditionTrue, "OneDomainOfTrust"
		c.Message = "All namespaces that these connections serve get the same login: all who may write claims in one reach the requests and files of all"
	}
	return c
}
