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

// of returns all composites of a kind in a namespace, in no order.
func (c *composites) of(kind, namespace string) []Composite {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Composite
	for k, one := range c.all {
		if k.Kind == kind && k.Namespace == namespace {
			out = append(out, one)
		}
	}
	return out
}

// Composites returns all composites of a kind in a namespace, in no order. A
// Managed that creates composites uses it. It is safe for concurrent use.
func (l *Local) Composites(kind, namespace string) []Composite {
	return l.composites.of(kind, namespace)
}
