package manager

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/guard"
	"github.com/gorizond/koldun/provider/requeue"
)

// notify wakes those who have read a ProviderConfig or Secret when it changes,
// and has the guard look at those that it keeps.
func notify(ctx context.Context, configs, secrets cache.Cache, tracker *requeue.Tracker, g *guard.Guard) error {
	for _, w := range []struct {
		kind string
		from cache.Cache
		obj  client.Object
	}{
		{v1alpha1.KindProviderConfig, configs, &v1alpha1.ProviderConfig{}},
		{v1alpha1.KindClusterProviderConfig, configs, &v1alpha1.ClusterProviderConfig{}},
		{connpool.KindSecret, secrets, connpool.Metadata()},
	} {
		informer, err := w.from.GetInformer(ctx, w.obj, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("cannot watch %s: %w", w.kind, err)
		}
		see := func(obj any, changed bool) {
			if d, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
				obj = d.Obj
			}
			m, ok := obj.(metav1.Object)
			if !ok {
				return
			}
			key := requeue.Key{Kind: w.kind, NamespacedName: types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}}
			if changed {
				tracker.Changed(key)
			}
			if _, ok := m.GetLabels()[v1.LabelToken]; ok && changed {
				tracker.Changed(connpool.LabelledKey(m.GetNamespace()))
			}
			if guard.Kept(m) {
				g.Check(key)
			}
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { see(obj, true) },
			UpdateFunc: func(before, after any) {
				see(before, changed(before, after)) // it may have had the label
				see(after, changed(before, after))
			},
			DeleteFunc: func(obj any) { see(obj, true) },
		}); err != nil {
			return fmt.Errorf("cannot watch %s: %w", w.kind, err)
		}
	}
	return nil
}

// changed reports whether an update is more than one of the status: every
// managed resource that comes or goes is counted in that of its ProviderConfig.
func changed(before, after any) bool {
	a, ok1 := before.(metav1.Object)
	b, ok2 := after.(metav1.Object)
	if !ok1 || !ok2 {
		return true
	}
	// Secrets have no generation.
	return a.GetResourceVersion() != b.GetResourceVersion() && (b.GetGeneration() == 0 || a.GetGeneration() != b.GetGeneration())
}
