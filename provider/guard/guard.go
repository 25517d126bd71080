// Package guard keeps ProviderConfigs and credentials Secrets for as long as a
// managed resource needs them to delete its external resource. Without it,
// the deletion of a namespace takes the credentials first, and never ends.
package guard

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/requeue"
)

// Finalizer is on what is kept.
const Finalizer = v1alpha1.Group + "/in-use"

// A Guard puts the finalizer on what managed resources use, and takes it off.
// It is safe for concurrent use.
type Guard struct {
	cached   client.Client // reads configurations from a cache
	live     client.Reader
	metadata client.Reader // of Secrets, from a cache
	kinds    []string      // that delete something

	mu    sync.Mutex
	queue queue
}

// New is a Guard for the managed resources of some kinds.
func New(cached client.Client, live, metadata client.Reader, kinds []string) *Guard {
	return &Guard{cached: cached, live: live, metadata: metadata, kinds: kinds}
}

// Hold keeps what a managed resource uses. What does not exist is left out.
// Errors: Conflict if it is being deleted already; Transient.
func (g *Guard) Hold(ctx context.Context, m resource.ModernManaged) error {
	if !deletes(m) {
		return nil
	}
	keys := []requeue.Key{connpool.KeyOf(m.GetNamespace(), m.GetProviderConfigReference())}
	for i := 0; i < len(keys); i++ {
		c, err := connpool.GetConfig(ctx, g.cached, keys[i])
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid) {
			continue // connecting returns the error
		}
		if err != nil {
			return err
		}
		if !c.Complete() && keys[i] != connpool.DefaultKey() {
			keys = append(keys, connpool.DefaultKey())
		}
		if err := g.hold(ctx, c.Key); err != nil {
			return err
		}
		for _, s := range c.Secrets() {
			if err := g.hold(ctx, requeue.Key{Kind: connpool.KindSecret, NamespacedName: s}); err != nil {
				return err
			}
		}
	}
	return nil
}

// deletes reports whether a managed resource deletes an external resource.
func deletes(m resource.Managed) bool {
	p := m.GetManagementPolicies()
	return slices.Contains(p, xpv2.ManagementActionAll) || slices.Contains(p, xpv2.ManagementActionDelete)
}

// hold puts the finalizer on an object.
func (g *Guard) hold(ctx context.Context, key requeue.Key) error {
	obj, err := g.get(ctx, key)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return fault.Errorf(fault.Transient, "cannot read %s %q: %w", key.Kind, key.Name, err)
	case err == nil && obj.GetDeletionTimestamp() != nil && !Kept(obj):
		return fault.Errorf(fault.Conflict, "%s %q is being deleted", key.Kind, key.Name)
	}
	if err != nil || Kept(obj) {
		return nil //nolint:nilerr // what does not exist needs not be kept
	}
	if err := g.patch(ctx, obj, append(slices.Clone(obj.GetFinalizers()), Finalizer)); err != nil {
		return fault.Errorf(fault.Transient, "cannot keep %s %q: %w", key.Kind, key.Name, err)
	}
	return nil
}

// get reads an object from a cache. It may be changed.
func (g *Guard) get(ctx context.Context, key requeue.Key) (client.Object, error) {
	switch key.Kind {
	case connpool.KindSecret:
		m := connpool.Metadata()
		return m, g.metadata.Get(ctx, key.NamespacedName, m)
	case v1alpha1.KindProviderConfig:
		p := &v1alpha1.ProviderConfig{}
		return p, g.cached.Get(ctx, key.NamespacedName, p)
	case v1alpha1.KindClusterProviderConfig:
		p := &v1alpha1.ClusterProviderConfig{}
		return p, g.cached.Get(ctx, key.NamespacedName, p)
	}
	return nil, fmt.Errorf("cannot read an object of kind %q", key.Kind)
}

// patch replaces the finalizers, unless the object was changed meanwhile.
func (g *Guard) patch(ctx context.Context, obj client.Object, finalizers []string) error {
	before, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("cannot copy %T", obj)
	}
	obj.SetFinalizers(finalizers)
	return g.cached.Patch(ctx, obj, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// Kept reports whether the finalizer is on an object.
func Kept(obj metav1.Object) bool { return slices.Contains(obj.GetFinalizers(), Finalizer) }
