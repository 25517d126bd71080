package fetch

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"
)

// buffers bound the memory for parts. They are given in the order in which they
// are asked for.
type buffers struct {
	size   int64 // of a usual buffer
	budget int64
	sem    *semaphore.Weighted

	mu   sync.Mutex
	free [][]byte
	used int
}

// collectEvery is after how many buffers the garbage of their requests is
// collected. Left to itself the collector waits until there is as much garbage
// as there is in use, which is all the buffers: twice the memory. There is
// little else to look through, so that a collection costs about a millisecond.
const collectEvery = 32

func newBuffers(size int64, count int) *buffers {
	budget := size * int64(count)
	return &buffers{size: size, budget: budget, sem: semaphore.NewWeighted(budget)}
}

// get waits for a buffer of n bytes. One of more than the whole budget is given
// when nobody else has any.
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

// weight counts every usual buffer as a full one, since it occupies that much.
func (b *buffers) weight(n int64) int64 { return min(max(n, b.size), b.budget) }
