// Package requeue adds managed resources to the queues of their controllers when
// an object that they have read changes.
package requeue

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

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

// A Queue is the work queue of a controller.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// A Tracker holds the queue of each controller, and the objects that each managed
// resource has read. It is safe for concurrent use. None of its methods blocks.
type Tracker struct {
	mu     sync.Mutex
	queues map[string]Queue
	read   map[Key]map[Key]bool // resource -> objects that it has read
	by     map[Key]map[Key]bool // object -> resources that have read it
}

// NewTracker returns an empty Tracker.
func NewTracker() *Tracker {
	return &Tracker{queues: map[string]Queue{}, read: map[Key]map[Key]bool{}, by: map[Key]map[Key]bool{}}
}

// Source is the event source of the controller of a kind.
func (t *Tracker) Source(kind string) source.Source {
	return source.Func(func(_ context.Context, q Queue) error {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.queues[kind] = q
		return nil
	})
}

// Enqueue adds managed resources to the queues of their controllers. It skips
// those whose controller does not run.
func (t *Tracker) Enqueue(owners ...Key) { t.EnqueueAfter(0, owners...) }

// EnqueueAfter adds managed resources to the queues of their controllers after a time.
func (t *Tracker) EnqueueAfter(d time.Duration, owners ...Key) {
	for _, o := range owners {
		t.mu.Lock()
		q := t.queues[o.Kind]
		t.mu.Unlock()
		if q != nil {
			q.AddAfter(reconcile.Request{NamespacedName: o.NamespacedName}, d)
		}
	}
}

// Changed enqueues the managed resources that have read an object.
func (t *Tracker) Changed(object Key) {
	t.mu.Lock()
	owners := slices.Collect(maps.Keys(t.by[object]))
	t.mu.Unlock()
	t.Enqueue(owners...)
}

// Read records that a managed resource is about to read an object, which need
// not exist.
func (t *Tracker) Read(owner, object Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	add(t.read, owner, object)
	add(t.by, object, owner)
}

// Forget drops the objects that a managed resource has read.
func (t *Tracker) Forget(owner Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for object := range t.read[owner] {
		delete(t.by[object], owner)
		if len(t.by[object]) == 0 {
			delete(t.by, object)
		}
	}
	delete(t.read, owner)
}

func add(m map[Key]map[Key]bool, from, to Key) {
	if m[from] == nil {
		m[from] = map[Key]bool{}
	}
	m[from][to] = true
}

// IsRead reports whether a managed resource has read an object.
func (t *Tracker) IsRead(object Key) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.by[object]) > 0
}

// ReadBy returns the objects that a managed resource has read.
func (t *Tracker) ReadBy(owner Key) []Key {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.read[owner]))
}
