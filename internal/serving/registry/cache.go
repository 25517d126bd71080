package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"

	"github.com/gorizond/koldun/internal/nats/bus"
)

// A Cache is a complete copy of a table in memory. It is empty until Synced and
// then follows every change. It keeps its content while the connection is lost.
// Its methods may be called from any goroutine and do not block.
type Cache[T any] struct {
	table  *Table[T]
	synced chan struct{}

	mu       sync.RWMutex // guards the fields below
	records  map[string]Record[T]
	isSynced bool
}

// Cache returns a cache of the table. The caller must call Run.
func (t *Table[T]) Cache() *Cache[T] {
	return &Cache[T]{table: t, synced: make(chan struct{}), records: map[string]Record[T]{}}
}

// Run follows the table until ctx ends. Call it once.
func (c *Cache[T]) Run(ctx context.Context) {
	bus.Watch(ctx, c.table.bus, c.table.bucket, cmp.Or(c.table.filter, ">"), c.apply)
}

// Synced returns a channel that is closed when the cache is complete.
func (c *Cache[T]) Synced() <-chan struct{} { return c.synced }

// Get returns the value of a record and whether it exists.
func (c *Cache[T]) Get(key string) (T, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	r, ok := c.records[key]
	return r.Value, ok
}

// Record returns a record with its revision, and whether it exists.
func (c *Cache[T]) Record(key string) (Record[T], bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	r, ok := c.records[key]
	return r, ok
}

// All returns the values in no particular order.
func (c *Cache[T]) All() []T {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := make([]T, 0, len(c.records))
	for _, r := range c.records {
		out = append(out, r.Value)
	}
	return out
}

// apply applies one change. It removes a record that cannot be decoded: the old
// state of a token, for example, must not stay valid.
func (c *Cache[T]) apply(e bus.Event[json.RawMessage]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Kind {
	case bus.Synced:
		if !c.isSynced {
			c.isSynced = true
			close(c.synced)
		}
	case bus.Gone:
		delete(c.records, e.Key)
	case bus.Changed:
		r, err := c.table.decode(e.Key, e.Value, e.Revision)
		if err != nil {
			delete(c.records, e.Key)
			return
		}
		c.records[e.Key] = r
	}
}
