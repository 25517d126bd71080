package llama

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A task is work on the independent units 0..n-1.
type task interface {
	// run computes the units lo..hi-1. Concurrent calls have different worker
	// numbers, which are below the pool's size.
	run(worker, lo, hi int)
}

// piecesPerWorker is the number of pieces of a task per worker. Small pieces
// bound the time for which the others wait for a preempted worker.
const piecesPerWorker = 4

// A pool is a fixed number of workers: its goroutines and the caller of do. It
// is not safe for concurrent use.
type pool struct {
	wake    []chan struct{}
	running sync.WaitGroup // workers with the current task
	ended   sync.WaitGroup // goroutines

	current task
	next    atomic.Int64
	n, step int
	failed  atomic.Pointer[error] // the first failure of any task
}

func newPool(size int) *pool {
	p := &pool{}
	for w := 1; w < size; w++ {
		wake := make(chan struct{}, 1)
		p.wake = append(p.wake, wake)
		p.ended.Add(1)
		go func() {
			defer p.ended.Done()
			debug.SetPanicOnFault(true)
			for range wake {
				p.work(w)
				p.running.Done()
			}
		}()
	}
	return p
}

func (p *pool) size() int { return len(p.wake) + 1 }

// do runs t on n units and returns when every worker is done. The method err
// returns failures. It wakes no more workers than there are grains of so many
// units. do does not allocate.
func (p *pool) do(t task, n, grain int) {
	grain = max(grain, 1)
	workers := min(p.size(), n/grain)
	p.current, p.n, p.step = t, n, n
	p.next.Store(0)
	if workers <= 1 {
		p.work(0)
		p.current = nil
		return
	}
	p.step = max(1, n/(workers*piecesPerWorker))
	p.running.Add(workers - 1)
	for _, wake := range p.wake[:workers-1] {
		wake <- struct{}{}
	}
	p.work(0)
	p.running.Wait()
	p.current = nil
}

// err returns the first failure of any task, or nil.
func (p *pool) err() error {
	if err := p.failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (p *pool) fail(err error) { p.failed.CompareAndSwap(nil, &err) }

func (p *pool) work(worker int) {
	defer func() {
		if err := faulted(recover()); err != nil {
			p.fail(err)
		}
	}()
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
