package llama

import (
	"fmt"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/topology"
)

// A cache holds the keys and values of every position of one context as
// float32, ordered by layer, kv head, position and value, so that the reads of
// one head are sequential.
type cache struct {
	keys, values []float32
	free         func() error
	seqLen       int
	kvHeads      int
	headDim      int
}

// newCache returns a cache of seqLen positions. The system allocates its memory
// when positions are first written.
func newCache(s topology.Shape, seqLen int) (*cache, error) {
	n := int64(s.Layers) * int64(seqLen) * int64(s.KVDim())
	all, free, err := newFloats(2 * n)
	if err != nil {
		return nil, fault.As(fault.KindOf(err), fmt.Errorf("cannot allocate the cache of %d positions, lower the longest sequence: %w", seqLen, err))
	}
	return &cache{keys: all[:n:n], values: all[n:], free: free, seqLen: seqLen, kvHeads: s.KVHeads, headDim: s.HeadDim}, nil
}

// head returns the keys and the values of one head, seqLen * head dim each.
func (c *cache) head(layer, kvHead int) (keys, values []float32) {
	size := c.seqLen * c.headDim
	from := (layer*c.kvHeads + kvHead) * size
	return c.keys[from : from+size : from+size], c.values[from : from+size : from+size]
}

// store keeps the keys and values of all heads at a position.
func (c *cache) store(layer, position int, key, value []float32) {
	for h := range c.kvHeads {
		keys, values := c.head(layer, h)
		copy(keys[position*c.headDim:], key[h*c.headDim:(h+1)*c.headDim])
		copy(values[position*c.headDim:], value[h*c.headDim:(h+1)*c.headDim])
	}
}

// bytes returns the size of a full cache.
func (c *cache) bytes() int64 { return 4 * int64(len(c.keys)+len(c.values)) }
