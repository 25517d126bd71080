package llama

import (
	"errors"
	"fmt"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
)

// blockTokens is the number of positions of a block. Sequences that share a
// prefix share its whole blocks.
const blockTokens = 64

// spareBlocks is the number of free blocks whose memory a cache keeps.
const spareBlocks = 4

// errCacheFull reports that every block of a cache is in use.
var errCacheFull = errors.New("the cache is full")

// A cache lends blocks for keys and values to sequences. Its memory grows with
// the blocks in use, up to a limit. It is not safe for concurrent use.
type cache struct {
	layers, kvHeads, headDim int

	limit int // blocks
	lent  int
	spare []*kvBlock
	round int // of the last count
}

// A kvBlock holds the keys and values of blockTokens positions as float32,
// ordered by layer, kv head, position and value, so that the reads of one head
// are sequential. A block with several users is full, and nobody writes it.
type kvBlock struct {
	users        int
	keys, values []float32
	free         func() error
	counted      int // round of the count that saw it last
}

// newCache returns a cache for so many positions. The error is Quota if the system
// would not lend the memory of all blocks now.
func newCache(s topology.Shape, tokens int) (*cache, error) {
	c := &cache{layers: s.Layers, kvHeads: s.KVHeads, headDim: s.HeadDim, limit: blocksFor(tokens)}
	_, free, err := newFloats(c.most() / 4)
	if err != nil {
		return nil, fault.As(fault.KindOf(err), fmt.Errorf("cannot allocate the cache of %d positions, lower the longest sequence: %w", tokens, err))
	}
	return c, free()
}

// blocksFor returns how many blocks hold so many positions.
func blocksFor(tokens int) int { return (tokens + blockTokens - 1) / blockTokens }

// blockFloats is the number of keys of a block, and of values.
func (c *cache) blockFloats() int64 {
	return int64(c.layers) * int64(c.kvHeads) * blockTokens * int64(c.headDim)
}

// bytes returns the size of a sequence of so many tokens.
func (c *cache) bytes(tokens int) int64 { return 8 * c.blockFloats() * int64(blocksFor(tokens)) }

// most returns the size of all blocks.
func (c *cache) most() int64 { return 8 * c.blockFloats() * int64(c.limit) }

// take lends a block to its first user. The error is errCacheFull, or Quota if
// the system has no memory.
func (c *cache) take() (*kvBlock, error) {
	if c.lent >= c.limit {
		return nil, errCacheFull
	}
	if n := len(c.spare); n > 0 {
		b := c.spare[n-1]
		c.spare = c.spare[:n-1]
		c.lent++
		b.users = 1
		return b, nil
	}
	n := c.blockFloats()
	all, free, err := newFloats(2 * n)
	if err != nil {
		return nil, fault.As(fault.KindOf(err), fmt.Errorf("cannot extend the cache of keys and values, lower the longest sequence: %w", err))
	}
	c.lent++
	return &kvBlock{users: 1, keys: all[:n:n], values: all[n:], free: free}, nil
}

// release ends one use of a block. The last one returns the block.
func (c *cache) release(b *kvBlock) {
	b.users--
	if b.users > 0 {
		return
	}
	c.lent--
	if len(c.spare) < spareBlocks {
		c.spare = append(c.spare, b)
		return
	}
	_ = b.free() // the memory of a mapping of ours: it cannot fail
}

// head returns the keys and the values of one head in a block.
func (c *cache) head(b *kvBlock, layer, kvHead int) (keys, values []float32) {
	size := blockTokens * c.headDim
	from := (layer*c.kvHeads + kvHead) * size
	return b.keys[from : from+size : from+size], b.values[from : from+size : from+size]
}

// store keeps the keys and values of all heads at a position of a block.
func (c *cache) store(b *kvBlock, layer, position int, key, value []float32) {
	for h := range c.kvHeads {
		keys, values := c.head(b, layer, h)
		copy(keys[position*c.headDim:], key[h*c.headDim:(h+1)*c.headDim])
		copy(values[position*c.headDim:], value[h*c.headDim:(h+1)*c.headDim])
	}
}

// copyTo copies the first n positions of a block to another one.
func (c *cache) copyTo(to, from *kvBlock, n int) {
	for l := range c.layers {
		for h := range c.kvHeads {
			keys, values := c.head(from, l, h)
			toKeys, toValues := c.head(to, l, h)
			copy(toKeys[:n*c.headDim], keys)
			copy(toValues[:n*c.headDim], values)
		}
	}
}

// count returns how many different blocks the sequences use.
func (c *cache) count(sequences func(yield func(*sequence) bool)) int {
	c.round++
	n := 0
	for s := range sequences {
		for _, b := range s.blocks {
			if b.counted != c.round {
				b.counted = c.round
				n++
			}
		}
	}
	return n
}

// close frees the spare blocks. All others must have been released.
func (c *cache) close() error {
	var errs []error
	for _, b := range c.spare {
		errs = append(errs, b.free())
	}
	c.spare = nil
	return errors.Join(errs...)
}
