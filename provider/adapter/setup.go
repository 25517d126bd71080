package adapter

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	kubecontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/dependents"
	"github.com/gorizond/koldun/provider/requeue"
)

const (
	// The first retry is soon: it observes what was just created.
	minBackoff = 200 * time.Millisecond
	maxBackoff = time.Minute
	// pendingInterval is the poll interval of a resource with work in the background.
	pendingInterval = 2 * time.Second
	// missingInterval is that of a resource that is only observed and does not exist yet.
	// A watch tells when it comes, but a message of NATS may be lost.
	missingInterval = 30 * time.Second
	// jitterShare spreads polls over a tenth of their interval.
	jitterShare = 10
)

// Options configure the controllers.
type Options struct {
	controller.Options
	Pool      *connpool.Pool
	Tracker   *requeue.Tracker
	Followers *Followers
	// Applier applies dependents.
	Applier *dependents.Applier
	// Guard protects the objects that the deletion of a resource needs. It is called
	// before an external resource is created.
	Guard func(ctx context.Context, m resource.ModernManaged) error
	// Gone is called with the objects that a deleted resource had read. It does not
	// block.
	Gone func(read ...requeue.Key)
}

// Setup adds the controller of the kind to the manager.
func (k Kind) Setup(mgr ctrl.Manager, o Options) error {
	gvk := v1alpha1.GroupVersion.WithKind(k.Kind)
	name := managed.ControllerName(k.Kind)
	empty := func() (managedResource, error) {
		obj, err := mgr.GetScheme().New(gvk)
		if err != nil {
			return nil, err
		}
		m, ok := obj.(managedResource)
		if !ok {
			return nil, fmt.Errorf("cannot set up controller of %s: its type is %T", k.Kind, obj)
		}
		return m, nil
	}
	m, err := empty()
	if err != nil {
		return err
	}
	deleted := newDeletions()
	opts := []managed.ReconcilerOption{
		managed.WithTypedExternalConnector[managedResource](&connector{
			kind: k, options: o, deleted: deleted,
			usage: resource.NewProviderConfigUsageTracker(mgr.GetClient(), &v1alpha1.ProviderConfigUsage{}),
		}),
		managed.WithInitializers(namer{kind: k, client: mgr.GetClient()}),
		managed.WithFinalizer(newFinalizer(mgr.GetClient(), k.observeOnly())),
		managed.WithDeterministicExternalName(true), // names are the user's: a repeated creation adopts
		managed.WithCriticalAnnotationUpdater(managed.CriticalAnnotationUpdateFn(unrecorded)),
		managed.WithCreationGracePeriod(0), // an external resource can be observed at once
		managed.WithPollInterval(o.PollInterval),
		managed.WithPollIntervalHook(func(mg resource.Managed, interval time.Duration) time.Duration {
			if k.pending(mg) {
				return pendingInterval
			}
			interval = pollInterval(mg, interval)
			return interval + rand.N(interval/jitterShare+1)
		}),
		managed.WithManagementPolicies(),
		managed.WithLogger(o.Logger.WithValues("controller", name)),
		managed.WithRecorder(newDedupe(event.NewAPIRecorder(mgr.GetEventRecorderFor(name)))), //nolint:staticcheck // the runtime takes no other
	}
	if o.MetricOptions != nil && o.MetricOptions.MRMetrics != nil {
		opts = append(opts, managed.WithMetricRecorder(o.MetricOptions.MRMetrics))
	}
	inner := managed.NewReconciler(mgr, resource.ManagedKind(gvk), opts...)
	tidy := reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		m, err := empty()
		if err != nil {
			return reconcile.Result{}, err
		}
		if err := mgr.GetClient().Get(ctx, req.NamespacedName, m); apierrors.IsNotFound(err) {
			owner := requeue.Key{Kind: k.Kind, NamespacedName: req.NamespacedName}
			read := o.Tracker.ReadBy(owner)
			o.Followers.Stop(owner)
			o.Pool.Release(owner)
			deleted.forget(req.NamespacedName)
			o.Gone(read...)
			return reconcile.Result{}, nil
		}
		return inner.Reconcile(ctx, req)
	})
	err = ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(kubecontroller.Options{
			MaxConcurrentReconciles: o.MaxConcurrentReconciles,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](minBackoff, maxBackoff),
		}).
		WithEventFilter(resource.DesiredStateChanged()).
		For(m).
		WatchesRawSource(o.Tracker.Source(k.Kind)).
		Complete(ratelimiter.NewReconciler(name, tidy, o.GlobalRateLimiter))
	if err != nil {
		return err
	}
	return addCensus(mgr, gvk, o.Options)
}

// pollInterval returns the poll interval of a resource without work in the background. One that
// is not synced and is polled all the same is missing: after an error it would be tried
// again sooner.
func pollInterval(m resource.Conditioned, interval time.Duration) time.Duration {
	if m.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionFalse {
		return min(interval, missingInterval)
	}
	return interval
}

// unrecorded does not record whether a creation has succeeded. A creation may be
// repeated, and each write is an event for the composite, which Crossplane bounds.
func unrecorded(context.Context, kube.Object) error { return nil }

// A connector opens clients.
type connector struct {
	kind    Kind
	options Options
	usage   resource.ModernTracker
	deleted *deletions
}

// Connect opens the client of a managed resource.
func (c *connector) Connect(ctx context.Context, m managedResource) (managed.TypedExternalClient[managedResource], error) {
	deleted := meta.WasDeleted(m)
	owner := requeue.Key{Kind: c.kind.Kind, NamespacedName: kube.ObjectKeyFromObject(m)}
	set := c.options.Pool.For(owner, m.GetProviderConfigReference())
	if deleted {
		c.options.Followers.Stop(owner)
		if c.kind.observeOnly() || c.deleted.done(m) {
			return gone{}, nil
		}
	} else if !c.kind.inCluster() {
		// Before the guard: who may not use a ProviderConfig does not keep it either.
		if err := c.permit(ctx, m, set); err != nil {
			return nil, err
		}
		// In a namespace that is being deleted nothing can be created.
		if err := c.track(ctx, m); err != nil {
			return nil, err
		}
		if !c.kind.observeOnly() {
			if err := c.options.Guard(ctx, m); err != nil {
				return nil, err
			}
		}
	}
	outer, err := c.kind.Open(ctx, set)
	switch {
	case deleted && connpool.IsNotAllowed(err):
		return gone{}, nil
	case err != nil:
		return nil, refused(m, err)
	}
	return &client{kind: c.kind, outer: outer, set: set, deleted: c.deleted, applier: c.options.Applier,
		follow: func(spec map[string]any, watch catalog.Watch) {
			c.options.Followers.follow(owner, set.Identity(), spec, watch)
		},
	}, nil
}

// permit checks that the resource may use its ProviderConfig. One that does not exist
// is not looked for: not all kinds need one.
func (c *connector) permit(ctx context.Context, m managedResource, set *connpool.Set) error {
	if err := set.Permit(ctx); connpool.IsNotAllowed(err) {
		return refused(m, err)
	}
	return nil
}

// refused sets the condition Ready if the namespace of the resource may not use its
// ProviderConfig, and returns the error.
func refused(m managedResource, err error) error {
	if connpool.IsNotAllowed(err) {
		c := xpv2.Unavailable().WithMessage(err.Error())
		c.Reason = v1alpha1.ReasonNamespaceNotAllowed
		m.SetConditions(c)
	}
	return err
}

// track records the resource as a user of its ProviderConfig. A ProviderConfigUsage
// needs a namespace, which a cluster-scoped resource does not have.
func (c *connector) track(ctx context.Context, m managedResource) error {
	if m.GetNamespace() == "" || m.GetProviderConfigReference() == nil {
		return nil
	}
	return c.usage.Track(ctx, m)
}

// A namer writes the name of the external resource into Crossplane's annotation
// for it, together with the finalizer. A name that is there already must be the
// same.
type namer struct {
	kind   Kind
	client kube.Client
}

func (n namer) Initialize(ctx context.Context, mg resource.Managed) error {
	m, ok := mg.(managedResource)
	if !ok {
		return fault.Errorf(fault.Internal, "cannot name %T as %s", mg, n.kind.Kind)
	}
	want, err := n.kind.ExternalName(m.GetForProvider())
	if err != nil {
		return err
	}
	want = cmp.Or(want, m.GetName())
	switch have := meta.GetExternalName(m); {
	case have == want || meta.WasDeleted(m):
		return nil
	case have != "":
		return fault.Errorf(fault.Invalid, "annotation %s is %q, and spec.forProvider says %q: remove the annotation", meta.AnnotationKeyExternalName, have, want)
	}
	meta.SetExternalName(m, want)
	if !meta.FinalizerExists(m, managed.FinalizerName) {
		return nil // both are written together: each write is an event for the composite
	}
	return n.client.Update(ctx, m)
}
