package llama

import (
	"sync"
	"sync/atomic"
)

// A task is work on the units 0..n-1, which are independent of each other.
type task interface {
	// run does the units lo..hi-1. Several calls run at once, each with
	// another worker number below the pool's size.
	run(worker, lo, hi int)
}

// piecesPerWorker is how finely work is cut: enough that a worker which loses
// its processor for a while does not hold up the others for long.
const piecesPerWorker = 4

// A pool is a fixed number of workers: its goroutines and the caller of do.
// Not safe for concurrent use.
type pool struct {
	wake    []chan struct{}
	running sync.WaitGroup // workers with the current task
	ended   sync.WaitGroup // goroutines

	current task
	next    atomic.Int64
	n, step int
}

func newPool(size int) *pool {
	p := &pool{}
	for w := 1; w < size; w++ {
		wake := make(chan struct{}, 1)
		p.wake = append(p.wake, wake)
		p.ended.Add(1)
		go func() {
			defer p.ended.Done()
			for range wake {
				p.work(w)
				p.running.Done()
			}
		}()
	}
	return p
}

func (p *pool) size() int { return len(p.wake) + 1 }

// do runs t on n units and returns when all are done. Fewer units than grain
// are not worth another worker. It allocates nothing.
func (p *pool) do(t task, n, grain int) {
	grain = max(grain, 1)
	workers := min(p.size(), n/grain)
	if workers <= 1 {
		t.run(0, 0, n)
		return
	}
	p.current, p.n = t, n
	p.step = max(grain, n/(workers*piecesPerWorker))
	p.next.Store(0)
	p.running.Add(workers - 1)
	for _, wake := range p.wake[:workers-1] {
		wake <- struct{}{}
	}
	p.work(0)
	p.running.Wait()
	p.current = nil
}

func (p *pool) work(worker int) {
	for {
		hi := int(p.next.Add(int64(p.step)))
		lo := hi - p.step
		if lo >= p.n {
			return
		}
		p.current.run(worker, lo, min(hi, p.n))
	}
}

// close ends the goroutines and waits for them.
func (p *pool) close() {
	for _, wake := range p.wake {
		close(wake)
	}
	p.ended.Wait()
}
