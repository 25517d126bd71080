package manager

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/requeue"
)

// namespaces reads the labels of namespaces from a cache, and from the API server
// while the cache is not filled: a provider without the right to watch namespaces
// starts all the same, and says what it lacks when it needs them.
type namespaces struct {
	cached client.Reader
	live   client.Reader
	synced func() bool
}

var _ connpool.Namespaces = namespaces{}

// watchNamespaces wakes those who have read a namespace when its labels change.
func watchNamespaces(ctx context.Context, mgr ctrl.Manager, tracker *requeue.Tracker) (namespaces, error) {
	c, err := cache.New(mgr.GetConfig(), cache.Options{
		Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient(),
		DefaultTransform: func(obj any) (any, error) {
			if m, ok := obj.(*metav1.PartialObjectMetadata); ok {
				m.ManagedFields, m.Annotations, m.OwnerReferences = nil, nil, nil
			}
			return obj, nil
		},
	})
	if err != nil {
		return namespaces{}, fmt.Errorf("cannot watch namespaces: %w", err)
	}
	informer, err := c.GetInformer(ctx, namespaceMetadata(), cache.BlockUntilSynced(false))
	if err != nil {
		return namespaces{}, fmt.Errorf("cannot watch namespaces: %w", err)
	}
	changed := func(obj any) {
		if m, ok := obj.(metav1.Object); ok {
			tracker.Changed(requeue.Key{Kind: connpool.KindNamespace, NamespacedName: types.NamespacedName{Name: m.GetName()}})
		}
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, after any) { changed(after) },
	}); err != nil {
		return namespaces{}, fmt.Errorf("cannot watch namespaces: %w", err)
	}
	return namespaces{cached: c, live: mgr.GetAPIReader(), synced: informer.HasSynced}, mgr.Add(manager.RunnableFunc(c.Start))
}

func namespaceMetadata() *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(connpool.KindNamespace))
	return m
}

// Labels returns the labels of a namespace. Errors: NotFound, Denied, Transient.
func (n namespaces) Labels(ctx context.Context, name string) (map[string]string, error) {
	from := n.live
	if n.synced() {
		from = n.cached
	}
	m := namespaceMetadata()
	err := from.Get(ctx, types.NamespacedName{Name: name}, m)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fault.Errorf(fault.NotFound, "namespace %q does not exist", name)
	case apierrors.IsForbidden(err):
		return nil, fault.Errorf(fault.Denied, "the provider may not read namespaces: apply package/install.yaml again, which grants it: %w", err)
	case err != nil:
		return nil, fault.Errorf(fault.Transient, "cannot read namespace %q: %w", name, err)
	}
	return m.Labels, nil
}
