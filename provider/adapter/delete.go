package adapter

import (
	"context"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/types"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
)

// deletions are the resources of one kind whose outside things were deleted,
// until they are gone themselves. After a restart things are deleted once more.
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

// gone acts for a resource that is deleted and has nothing left outside.
type gone[M resource.ModernManaged] struct{}

func (gone[M]) Observe(context.Context, M) (managed.ExternalObservation, error) {
	return managed.ExternalObservation{}, nil
}

func (gone[M]) Create(context.Context, M) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, nil
}

func (gone[M]) Update(context.Context, M) (managed.ExternalUpdate, error) {
	return managed.ExternalUpdate{}, nil
}

func (gone[M]) Delete(context.Context, M) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, nil
}

func (gone[M]) Disconnect(context.Context) error { return nil }
