package adapter

import (
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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	kubecontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/connection"
	"github.com/gorizond/koldun/provider/dependents"
	"github.com/gorizond/koldun/provider/requeue"
)

const (
	// The first retry is soon: it is the look at what was just created.
	minBackoff = 200 * time.Millisecond
	maxBackoff = time.Minute
	// busyInterval is between two looks at what is under way.
	busyInterval = 2 * time.Second
	// jitter spreads polls over a tenth of their interval.
	jitterShare = 10
)

// Options of controllers.
type Options struct {
	controller.Options
	Pool      *connection.Pool
	Tracker   *requeue.Tracker
	Followers *Followers
	// Applier of the objects that resources make.
	Applier *dependents.Applier
	// Guard keeps what a resource needs for its deletion from being deleted
	// before. It is called before anything is made outside.
	Guard func(ctx context.Context, m resource.ModernManaged) error
	// Gone is told what a resource had read that is gone. It does not block.
	Gone func(read ...requeue.Key)
}

// Setup adds the controller of the kind to the manager.
func (k Kind[M, S, O]) Setup(mgr ctrl.Manager, o Options) error {
	gvk := v1alpha1.GroupVersion.WithKind(k.Name)
	name := managed.ControllerName(k.Name)
	empty := func() (M, error) {
		obj, err := mgr.GetScheme().New(gvk)
		if err != nil {
			var none M
			return none, err
		}
		m, ok := obj.(M)
		if !ok {
			return m, fmt.Errorf("cannot set up controller of %s: its type is %T", k.Name, obj)
		}
		return m, nil
	}
	m, err := empty()
	if err != nil {
		return err
	}
	deleted := newDeletions()
	opts := []managed.ReconcilerOption{
		managed.WithTypedExternalConnector(&connector[M, S, O]{
			kind: k, options: o, deleted: deleted,
			usage: resource.NewProviderConfigUsageTracker(mgr.GetClient(), &v1alpha1.ProviderConfigUsage{}),
		}),
		managed.WithInitializers(namer[M, S, O]{kind: k, client: mgr.GetClient()}),
		managed.WithFinalizer(newFinalizer(mgr.GetClient(), k.observeOnly())),
		managed.WithDeterministicExternalName(true), // names are the user's: a repeated creation adopts
		managed.WithCriticalAnnotationUpdater(managed.CriticalAnnotationUpdateFn(unrecorded)),
		managed.WithCreationGracePeriod(0), // what was made is there at once
		managed.WithPollInterval(o.PollInterval),
		managed.WithPollIntervalHook(func(mg resource.Managed, interval time.Duration) time.Duration {
			if m, ok := mg.(M); ok && k.Busy != nil && k.Busy(m) {
				return busyInterval
			}
			return interval + rand.N(interval/jitterShare+1)
		}),
		managed.WithManagementPolicies(),
		managed.WithLogger(o.Logger.WithValues("controller", name)),
		managed.WithRecorder(newQuiet(event.NewAPIRecorder(mgr.GetEventRecorderFor(name)))), //nolint:staticcheck // the runtime takes no other
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
			owner := requeue.Key{Kind: k.Name, NamespacedName: req.NamespacedName}
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
		WatchesRawSource(o.Tracker.Source(k.Name)).
		Complete(ratelimiter.NewReconciler(name, tidy, o.GlobalRateLimiter))
	if err != nil {
		return err
	}
	return addCensus(mgr, gvk, o.Options)
}

// unrecorded leaves out that a creation has succeeded or failed. Nobody needs
// to know, as it may be repeated, and each write is an event for whoever
// composed the resource: Crossplane bounds those.
func unrecorded(context.Context, kube.Object) error { return nil }

// A connector opens clients.
type connector[M resource.ModernManaged, S, O any] struct {
	kind    Kind[M, S, O]
	options Options
	usage   resource.ModernTracker
	deleted *deletions
}

// Connect opens the client of a managed resource.
func (c *connector[M, S, O]) Connect(ctx context.Context, m M) (managed.TypedExternalClient[M], error) {
	deleted := meta.WasDeleted(m)
	owner := requeue.Key{Kind: c.kind.Name, NamespacedName: kube.ObjectKeyFromObject(m)}
	if deleted {
		c.options.Followers.Stop(owner)
		if c.kind.observeOnly() || c.deleted.done(m) {
			return gone[M]{}, nil
		}
	} else if !c.kind.Here {
		// In a namespace that ends nothing can be made, and nobody counts.
		if err := c.track(ctx, m); err != nil {
			return nil, err
		}
		if !c.kind.observeOnly() {
			if err := c.options.Guard(ctx, m); err != nil {
				return nil, err
			}
		}
	}
	set := c.options.Pool.For(owner, m.GetProviderConfigReference())
	outer, err := c.kind.Open(ctx, set)
	if err != nil {
		return nil, err
	}
	return &client[M, S, O]{kind: c.kind, outer: outer, set: set, deleted: c.deleted, applier: c.options.Applier,
		follow: func(s S, watch func(context.Context, func()) error) {
			c.options.Followers.follow(owner, set.Identity(), s, watch)
		},
	}, nil
}

// track counts the resource as a user of its ProviderConfig. A cluster-scoped
// resource has no namespace to be counted in.
func (c *connector[M, S, O]) track(ctx context.Context, m M) error {
	if m.GetNamespace() == "" || m.GetProviderConfigReference() == nil {
		return nil
	}
	return c.usage.Track(ctx, m)
}

// A namer writes what the outside thing is called into the annotation that
// Crossplane keeps for it, together with the finalizer. A name that somebody
// wrote there must be the same.
type namer[M resource.ModernManaged, S, O any] struct {
	kind   Kind[M, S, O]
	client kube.Client
}

func (n namer[M, S, O]) Initialize(ctx context.Context, mg resource.Managed) error {
	m, ok := mg.(M)
	if !ok {
		return fault.Errorf(fault.Internal, "cannot name %T as %s", mg, n.kind.Name)
	}
	want := m.GetName()
	if n.kind.ExternalName != nil {
		s, err := n.kind.spec(m)
		if err != nil {
			return err
		}
		want = n.kind.ExternalName(s)
	}
	switch have := meta.GetExternalName(m); {
	case have == want || meta.WasDeleted(m):
		return nil
	case have != "":
		return fault.Errorf(fault.Invalid, "annotation %s is %q, and spec.forProvider says %q: remove the annotation", meta.AnnotationKeyExternalName, have, want)
	}
	meta.SetExternalName(m, want)
	if !meta.FinalizerExists(m, managed.FinalizerName) {
		return nil // both are written together: each write is an event for whoever composed it
	}
	return n.client.Update(ctx, m)
}
