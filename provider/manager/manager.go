// Package manager assembles the provider.
package manager

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/gate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"
	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external/nodes"
	"github.com/gorizond/koldun/internal/external/workloadstatus"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/dependents"
	"github.com/gorizond/koldun/provider/guard"
	"github.com/gorizond/koldun/provider/prerequisites"
	"github.com/gorizond/koldun/provider/requeue"
)

// Options configure the provider.
type Options struct {
	Log            logging.Logger
	PollInterval   time.Duration // between two observations of an external resource
	MaxReconciles  int           // per second, over all kinds; as many of one kind at a time, at most maxConcurrent
	Metrics        string        // address, "0" for none
	CountInterval  time.Duration // between two counts of resources for the metrics; 0 for none
	Health         string        // address, "" for none
	LeaderElection bool
	Namespace      string                // of the lease; empty: where the pod runs
	Crossplane     prerequisites.Account // its service account; without a namespace, its rights are not reviewed
}

const (
	// maxConcurrent bounds reconciles of one kind at the same time.
	maxConcurrent = 10
	// No replica scales pools between a leader's crash and the end of its lease,
	// so the lease is half as long as that of other providers. A slow API server
	// does not depose a leader in less than the deadline.
	leaseDuration = 30 * time.Second
	renewDeadline = 25 * time.Second
	// Time and intervals of the waits for CRDs.
	servedWithin = time.Minute
	servedEvery  = 500 * time.Millisecond
	seldom       = 5 * time.Second // for CRDs that may never be installed
	// leaseName is the lease that the replicas of the provider contend for.
	leaseName = "koldun-provider"
)

// A Manager is the provider, ready to start.
type Manager struct {
	ctrl.Manager
	// Pool holds the open connections.
	Pool *connpool.Pool
}

// New returns a Manager for the kinds that the API server serves.
func New(ctx context.Context, cfg *rest.Config, o Options) (*Manager, error) {
	scheme, err := scheme()
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(ratelimiter.LimitRESTConfig(cfg, o.MaxReconciles), managerOptions(scheme, o))
	if err != nil {
		return nil, fmt.Errorf("cannot set up the provider: %w", err)
	}
	if err := served(ctx, mgr); err != nil {
		return nil, err
	}
	secrets, err := secretCache(mgr, cfg, scheme)
	if err != nil {
		return nil, err
	}
	tracker := requeue.NewTracker()
	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client of the cluster: %w", err)
	}
	named, err := watchNamespaces(ctx, mgr, tracker)
	if err != nil {
		return nil, err
	}
	pool := connpool.NewPool(connpool.Program{Name: "koldun provider"}, mgr.GetClient(), connpool.NewSecrets(secrets, mgr.GetAPIReader()), tracker,
		connpool.Cluster{Nodes: nodes.New(clients.CoreV1().Nodes()), Workloads: workloadstatus.New(clients), Namespaces: named})
	kinds := adapter.Kinds()
	followers := adapter.NewFollowers(tracker)
	g := guard.New(mgr.GetClient(), mgr.GetAPIReader(), secrets, deleting(kinds))
	if err := g.Setup(mgr); err != nil {
		return nil, err
	}
	if err := notify(ctx, mgr.GetCache(), secrets, tracker, g); err != nil {
		return nil, err
	}
	measured, err := metricOptions(o.CountInterval)
	if err != nil {
		return nil, err
	}
	opts := adapter.Options{
		Options: controller.Options{
			Logger:                  o.Log,
			GlobalRateLimiter:       ratelimiter.NewGlobal(o.MaxReconciles),
			PollInterval:            o.PollInterval,
			MaxConcurrentReconciles: min(o.MaxReconciles, maxConcurrent),
			Features:                &feature.Flags{},
			MetricOptions:           measured,
			Gate:                    new(gate.Gate[schema.GroupVersionKind]),
		},
		Pool: pool, Tracker: tracker, Followers: followers, Applier: dependents.New(mgr.GetClient(), tracker),
		Guard: g.Hold, Gone: g.Check,
	}
	if err := setupConfigs(mgr, opts.Options); err != nil {
		return nil, err
	}
	if o.Crossplane.Namespace != "" {
		if err := setupPrerequisites(mgr, cfg, o); err != nil {
			return nil, err
		}
	}
	if err := setupKinds(ctx, mgr, opts, kinds); err != nil {
		return nil, err
	}
	err = mgr.Add(closer(func() {
		followers.Close()
		pool.Close()
	}))
	return &Manager{Manager: mgr, Pool: pool}, err
}

// setupPrerequisites adds what looks for the prerequisites of the cluster. It has a
// client of its own: its requests must not delay those of the controllers.
func setupPrerequisites(mgr ctrl.Manager, cfg *rest.Config, o Options) error {
	clients, err := kubernetes.NewForConfig(ratelimiter.LimitRESTConfig(cfg, o.MaxReconciles))
	if err != nil {
		return fmt.Errorf("cannot make a client of the cluster: %w", err)
	}
	return mgr.Add(prerequisites.New(clients, mgr.GetClient(), mgr.GetAPIReader(), o.Crossplane, o.Log))
}

// served waits until the API server serves the kinds of ProviderConfigs: it
// accepts the CRDs of a package a moment before it serves them.
func served(ctx context.Context, mgr ctrl.Manager) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, servedEvery, servedWithin, true, func(context.Context) (bool, error) {
		for _, kind := range []string{v1alpha1.KindProviderConfig, v1alpha1.KindClusterProviderConfig, v1alpha1.KindProviderConfigUsage} {
			if _, last = mgr.GetRESTMapper().RESTMapping(v1alpha1.GroupVersion.WithKind(kind).GroupKind(), v1alpha1.Version); last != nil {
				return false, nil //nolint:nilerr // the poll tries again
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("cannot find the CRDs of the provider: %w", last)
	}
	return nil
}

func scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, extv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func managerOptions(scheme *runtime.Scheme, o Options) ctrl.Options {
	lease, renew := leaseDuration, renewDeadline
	return ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       server.Options{BindAddress: o.Metrics, FilterProvider: guardMetrics},
		HealthProbeBindAddress:        o.Health,
		LeaderElection:                o.LeaderElection,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       o.Namespace,
		LeaderElectionResourceLock:    resourcelock.LeasesResourceLock,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&extv1.CustomResourceDefinition{}: {Transform: customresourcesgate.TransformStripCRDSchema},
			},
		},
		// Secrets are read when they are needed, not held.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
	}
}

// secretCache holds the metadata of all Secrets: names, versions, finalizers.
func secretCache(mgr ctrl.Manager, cfg *rest.Config, scheme *runtime.Scheme) (cache.Cache, error) {
	c, err := cache.New(cfg, cache.Options{
		Scheme: scheme, Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient(),
		DefaultTransform: func(obj any) (any, error) {
			if m, ok := obj.(*metav1.PartialObjectMetadata); ok {
				m.ManagedFields, m.Annotations, m.OwnerReferences = nil, nil, nil
				if of, ok := m.Labels[v1.LabelToken]; ok {
					m.Labels = map[string]string{v1.LabelToken: of}
				} else {
					m.Labels = nil
				}
			}
			return obj, nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot watch Secrets: %w", err)
	}
	return c, mgr.Add(watched{c})
}

// watched starts a cache before the controllers, like the manager's own.
type watched struct{ cache.Cache }

// GetCache returns the cache.
func (w watched) GetCache() cache.Cache { return w.Cache }

// deleting returns the names of the kinds that delete external resources.
func deleting(kinds []adapter.Kind) []string {
	var out []string
	for _, k := range kinds {
		if k.NeedsDeletion() {
			out = append(out, k.Kind)
		}
	}
	return out
}

// A closer closes connections after the controllers have stopped.
type closer func()

// NeedLeaderElection returns false: the manager stops such runnables last.
func (c closer) NeedLeaderElection() bool { return false }

// Start blocks until ctx ends.
func (c closer) Start(ctx context.Context) error {
	<-ctx.Done()
	c()
	return nil
}
