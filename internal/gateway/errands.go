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
	mu      sync.Mutex // guards the fields below
	closed  bool
	next    int
	running map[int]context.CancelFunc
	idle    chan struct{} // closed when closed, and nothing runs
}

func newErrands() *errands {
	return &errands{running: map[int]context.CancelFunc{}, idle: make(chan struct{})}
}

// run starts a task that gets at most the given time, and reports whether it
// could: there may be too many, or the end may have come.
func (e *errands) run(timeout time.Duration, task func(context.Context)) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || len(e.running) >= maxErrands {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	e.next++
	id := e.next
	e.running[id] = cancel
	go func() {
		defer e.finish(id)
		task(ctx)
	}()
	return true
}

func (e *errands) finish(id int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running[id]()
	delete(e.running, id)
	if e.closed && len(e.running) == 0 {
		close(e.idle)
	}
}

// close takes no more tasks, gives those that run the grace to finish, and
// blocks until they have ended. Call it once.
func (e *errands) close(grace time.Duration) {
	e.mu.Lock()
	e.closed = true
	if len(e.running) == 0 {
		close(e.idle)
	}
	e.mu.Unlock()
	select {
	case <-e.idle:
	case <-time.After(grace):
	}
	e.mu.Lock()
	for _, cancel := range e.running {
		cancel()
	}
	e.mu.Unlock()
	<-e.idle
}
