package local

import "sync"

// composites holds the existing composites. It is safe for concurrent use.
type composites struct {
	mu  sync.Mutex
	all map[Key]Composite
}

// A Composite is an existing composite with its status.
type Composite struct {
	Object Object
	Owner  Key // the zero Key for objects of the claims file
}

func newComposites() *composites { return &composites{all: map[Key]Composite{}} }

func (c *composites) set(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[e.key] = Composite{Object: e.obj, Owner: e.owner}
}

func (c *composites) remove(k Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, k)
}

// Composites returns all composites of a kind in a namespace, in no order. A
// Managed that creates composites uses it. It is safe for concurrent use.
func (l *Local) Composites(kind, namespace string) []Composite {
	l.composites.mu.Lock()
	defer l.composites.mu.Unlock()
	var out []Composite
	for k, c := range l.composites.all {
		if k.Kind == kind && k.Namespace == namespace {
			out = append(out, c)
		}
	}
	return out
}

// updateComposites updates the composites. It reconciles the managed resource that
// created the composite, or all of them if none did.
func (l *Local) updateComposites(e *entry) {
	if classOf(e.key) != compositeClass {
		return
	}
	there := l.table[e.key] == e
	if there {
		l.composites.set(e)
	} else {
		l.composites.remove(e.key)
	}
	if owner := l.table[e.owner]; owner != nil {
		if m, ok := owner.unit.(*managedUnit); ok {
			m.reconcileNow()
		}
	}
}
