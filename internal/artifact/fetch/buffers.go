package fetch

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"
)

// buffers bound the memory for parts. get returns buffers in the order of its
// calls.
type buffers struct {
	size   int64 // of a full buffer
	budget int64
	sem    *semaphore.Weighted

	mu   sync.Mutex
	free [][]byte
	used int
}

// collectEvery is the number of buffers after which the garbage of their requests
// is collected. By default the collector waits until there is as much garbage as
// live memory, which is all buffers: twice the memory. There is little else to
// scan, so a collection costs about a millisecond.
const collectEvery = 32

func newBuffers(size int64, count int) *buffers {
	budget := size * int64(count)
	return &buffers{size: size, budget: budget, sem: semaphore.NewWeighted(budget)}
}

// get waits for a buffer of n bytes. It returns one that exceeds the whole budget
// when no other is in use.
func (b *buffers) get(ctx context.Context, n int64) ([]byte, error) {
	if err := b.sem.Acquire(ctx, b.weight(n)); err != nil {
		return nil, context.Cause(ctx)
	}
	if n > b.size {
		return make([]byte, n), nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if last := len(b.free) - 1; last >= 0 {
		buf := b.free[last]
		b.free = b.free[:last]
		return buf[:n], nil
	}
	return make([]byte, n, b.size), nil
}

func (b *buffers) put(buf []byte) {
	b.mu.Lock()
	if int64(cap(buf)) == b.size {
		b.free = append(b.free, buf)
	}
	b.used++
	collect := b.used%collectEvery == 0
	b.mu.Unlock()
	if collect {
		runtime.GC()
	}
	b.sem.Release(b.weight(int64(len(buf))))
}

// weight returns the memory that a buffer occupies: pooled buffers have full size.
func (b *buffers) weight(n int64) int64 { return min(max(n, b.size), b.budget) }
