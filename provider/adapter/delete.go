package adapter

import (
	"context"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/types"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
)

// deletions are the resources of one kind whose external resources were deleted,
// until they are deleted themselves. A restart deletes external resources again.
type deletions struct {
	mu   sync.Mutex
	uids map[types.NamespacedName]types.UID
}

func newDeletions() *deletions { return &deletions{uids: map[types.NamespacedName]types.UID{}} }

func (d *deletions) note(m resource.Managed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.uids[kube.ObjectKeyFromObject(m)] = m.GetUID()
}

func (d *deletions) done(m resource.Managed) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	uid, ok := d.uids[kube.ObjectKeyFromObject(m)]
	return ok && uid == m.GetUID()
}

func (d *deletions) forget(name types.NamespacedName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.uids, name)
}

// gone is the client of a resource that is being deleted and has no external
// resource left.
type gone struct{}

func (gone) Observe(context.Context, managedResource) (managed.ExternalObservation, error) {
	return managed.ExternalObservation{}, nil
}

func (gone) Create(context.Context, managedResource) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, nil
}

func (gone) Update(context.Context, managedResource) (managed.ExternalUpdate, error) {
	return managed.ExternalUpdate{}, nil
}

func (gone) Delete(context.Context, managedResource) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, nil
}

func (gone) Disconnect(context.Context) error { return nil }
