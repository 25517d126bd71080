package gateway

import (
	"context"
	"sync"
	"time"
)

// maxErrands bounds the errands at any time; a flood of leaving clients while
// nobody answers on the bus must not fill the memory.
const maxErrands = 4096

// errands are small tasks that outlive the request they come from, such as
// telling that its client has left.
type errands struct {
	ctx  context.Context // of all errands
	stop context.CancelFunc

	mu     sync.Mutex // guards the fields below
	closed bool
	count  int
	idle   chan struct{} // closed by the last errand after close
}

func newErrands() *errands {
	e := &errands{idle: make(chan struct{})}
	e.ctx, e.stop = context.WithCancel(context.Background())
	return e
}

// run starts a task that gets at most the given time, and reports whether it
// could: there may be too many, or the end may have come.
func (e *errands) run(timeout time.Duration, task func(context.Context)) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.count >= maxErrands {
		return false
	}
	e.count++
	go func() {
		defer e.finished()
		ctx, cancel := context.WithTimeout(e.ctx, timeout)
		defer cancel()
		task(ctx)
	}()
	return true
}

func (e *errands) finished() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.count--
	if e.closed && e.count == 0 {
		close(e.idle)
	}
}

// close takes no more tasks, gives those that run the grace to finish, and
// blocks until they have ended. Call it once.
func (e *errands) close(grace time.Duration) {
	e.mu.Lock()
	e.closed = true
	if e.count == 0 {
		close(e.idle)
	}
	e.mu.Unlock()
	select {
	case <-e.idle:
	case <-time.After(grace):
	}
	e.stop()
	<-e.idle
}
