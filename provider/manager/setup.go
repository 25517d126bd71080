package manager

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/dependents"
)

// setupConfigs adds the controllers that count who uses which ProviderConfig.
func setupConfigs(mgr ctrl.Manager, o controller.Options) error {
	for kind, obj := range map[string]client.Object{
		v1alpha1.KindProviderConfig:        &v1alpha1.ProviderConfig{},
		v1alpha1.KindClusterProviderConfig: &v1alpha1.ClusterProviderConfig{},
	} {
		name := providerconfig.ControllerName(kind)
		of := resource.ProviderConfigKinds{
			Config:    v1alpha1.GroupVersion.WithKind(kind),
			Usage:     v1alpha1.GroupVersion.WithKind(v1alpha1.KindProviderConfigUsage),
			UsageList: v1alpha1.GroupVersion.WithKind(v1alpha1.KindProviderConfigUsage + "List"),
		}
		r := providerconfig.NewReconciler(mgr, of,
			providerconfig.WithLogger(o.Logger.WithValues("controller", name)),
			providerconfig.WithRecorder(event.NewAPIRecorder(mgr.GetEventRecorderFor(name)))) //nolint:staticcheck // the runtime takes no other
		err := ctrl.NewControllerManagedBy(mgr).
			Named(name).
			For(obj).
			Watches(&v1alpha1.ProviderConfigUsage{}, &resource.EnqueueRequestForProviderConfig{Kind: kind}).
			Complete(ratelimiter.NewReconciler(name, r, o.GlobalRateLimiter))
		if err != nil {
			return fmt.Errorf("cannot set up controller of %s: %w", kind, err)
		}
	}
	const name = "sharedlogin"
	err := ctrl.NewControllerManagedBy(mgr).Named(name).For(&v1alpha1.ClusterProviderConfig{}).
		Complete(ratelimiter.NewReconciler(name, sharedLogins{mgr.GetClient()}, o.GlobalRateLimiter))
	if err != nil {
		return fmt.Errorf("cannot set up controller of shared logins: %w", err)
	}
	return nil
}

// setupKinds adds the controllers of managed resources: each as soon as its CRD
// is served, if CRDs can be watched, and all of them otherwise.
func setupKinds(ctx context.Context, mgr ctrl.Manager, o adapter.Options, kinds []adapter.Kind) error {
	gated, err := mayWatchCRDs(ctx, mgr)
	if err != nil {
		return err
	}
	if !gated {
		o.Logger.Info("CRDs cannot be watched: all of them must be there")
		for _, k := range kinds {
			if err := k.Setup(mgr, o); err != nil {
				return err
			}
		}
		// Those of the Configuration come when it is installed, often later.
		for _, kind := range dependents.Kinds() {
			go watchOnceServed(ctx, mgr, o, kind, seldom)
		}
		return nil
	}
	failed := make(chan error, len(kinds))
	for _, k := range kinds {
		o.Gate.Register(func() {
			if err := k.Setup(mgr, o); err != nil {
				failed <- err
			}
		}, v1alpha1.GroupVersion.WithKind(k.Kind))
	}
	for _, kind := range dependents.Kinds() {
		// A CRD is established a moment before it is served.
		o.Gate.Register(func() { go watchOnceServed(ctx, mgr, o, kind, servedEvery) }, kind)
	}
	// A provider without one of its controllers would look alive.
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		}
	}))
	if err != nil {
		return err
	}
	return customresourcesgate.Setup(mgr, o.Options)
}

// watchOnceServed watches the objects of a kind as soon as it is served. It ends
// then, or with ctx.
func watchOnceServed(ctx context.Context, mgr ctrl.Manager, o adapter.Options, kind schema.GroupVersionKind, every time.Duration) {
	_ = wait.PollUntilContextCancel(ctx, every, true, func(ctx context.Context) (bool, error) {
		err := o.Applier.Watch(ctx, mgr.GetCache(), kind)
		return err == nil, nil
	})
}

// mayWatchCRDs asks for the right that Crossplane gives to providers with the
// capability safe-start.
func mayWatchCRDs(ctx context.Context, mgr ctrl.Manager) (bool, error) {
	for _, verb := range []string{"get", "list", "watch"} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Verb: verb},
		}}
		if err := mgr.GetClient().Create(ctx, review); err != nil {
			return false, fmt.Errorf("cannot ask for the right to watch CRDs: %w", err)
		}
		if !review.Status.Allowed {
			return false, nil
		}
	}
	return true, nil
}
