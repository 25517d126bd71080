package constrain

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// A Cache keeps the latest grammars, up to MaxCached bytes: clients repeat schemas,
// and a grammar that was used before is quicker. It compiles one grammar at a time,
// so that others than the client with a large schema keep their processors, and tenants
// take turns. It is safe for concurrent use.
type Cache struct {
	compiling turns
	mu        sync.Mutex
	kept      []cached // the latest last
}

type cached struct {
	key     string
	grammar *Grammar
}

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{} }

// Get returns the grammar of a key, and compiles it if it is not kept. It waits for the
// turn of the tenant until ctx ends. The error is that of ctx, or of compile.
func (c *Cache) Get(ctx context.Context, tenant, key string, compile func(context.Context) (*Grammar, error)) (*Grammar, error) {
	if g := c.find(key); g != nil {
		return g, nil
	}
	if !c.compiling.take(ctx, tenant) {
		return nil, fmt.Errorf("the schemas of other requests took too long to compile: %w", context.Cause(ctx))
	}
	defer c.compiling.leave()
	if g := c.find(key); g != nil { // compiled meanwhile
		return g, nil
	}
	g, err := compile(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(cached{key, g})
	return g, nil
}

// find returns the grammar of a key, or nil, and makes it the latest.
func (c *Cache) find(key string) *Grammar {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.kept, func(g cached) bool { return g.key == key })
	if i < 0 {
		return nil
	}
	g := c.kept[i]
	c.kept = slices.Delete(c.kept, i, i+1)
	c.keep(g)
	return g.grammar
}

// keep adds a grammar, and forgets the oldest ones that are too many. Grammars grow while
// answers follow them, so those that fitted may not fit now.
func (c *Cache) keep(g cached) {
	c.kept = append(c.kept, g)
	bytes := 0
	for i, g := range slices.Backward(c.kept) {
		if bytes += len(g.key) + g.grammar.Bytes(); bytes > MaxCached {
			c.kept = slices.Delete(c.kept, 0, i+1)
			return
		}
	}
}
