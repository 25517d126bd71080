// Package wake tells controllers which of their resources to look at again,
// and keeps in mind who has read which object.
package wake

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// A Key names an object by its kind: a Secret, a ProviderConfig or a managed
// resource.
type Key struct {
	Kind string
	types.NamespacedName
}

// A Queue is what a controller works off.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// A Board knows the queues of the controllers, and what each managed resource
// has read. It is safe for concurrent use, and none of its methods blocks.
type Board struct {
	mu     sync.Mutex
	queues map[string]Queue
	read   map[Key]map[Key]bool // resource -> what it has read
	by     map[Key]map[Key]bool // object -> who has read it
}

// NewBoard is an empty Board.
func NewBoard() *Board {
	return &Board{queues: map[string]Queue{}, read: map[Key]map[Key]bool{}, by: map[Key]map[Key]bool{}}
}

// Source brings the controller of a kind what is woken.
func (b *Board) Source(kind string) source.Source {
	return source.Func(func(_ context.Context, q Queue) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.queues[kind] = q
		return nil
	})
}

// Wake has managed resources looked at again. Those whose controller does not
// run are left out.
func (b *Board) Wake(owners ...Key) {
	for _, o := range owners {
		b.mu.Lock()
		q := b.queues[o.Kind]
		b.mu.Unlock()
		if q != nil {
			q.Add(reconcile.Request{NamespacedName: o.NamespacedName})
		}
	}
}

// Changed wakes those who have read an object.
func (b *Board) Changed(object Key) {
	b.mu.Lock()
	owners := slices.Collect(maps.Keys(b.by[object]))
	b.mu.Unlock()
	b.Wake(owners...)
}

// Read notes that a managed resource is about to read an object, whether it
// exists or not.
func (b *Board) Read(owner, object Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	add(b.read, owner, object)
	add(b.by, object, owner)
}

// Forget what a managed resource has read.
func (b *Board) Forget(owner Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for object := range b.read[owner] {
		delete(b.by[object], owner)
		if len(b.by[object]) == 0 {
			delete(b.by, object)
		}
	}
	delete(b.read, owner)
}

func add(m map[Key]map[Key]bool, from, to Key) {
	if m[from] == nil {
		m[from] = map[Key]bool{}
	}
	m[from][to] = true
}

// ReadBy are the objects that a managed resource has read.
func (b *Board) ReadBy(owner Key) []Key {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Keys(b.read[owner]))
}
