package gateway

import (
	"context"
	"sync"
	"time"
)

// maxBackground bounds the functions that run in the background at any time: if
// many clients leave while no dispatcher answers, memory must not fill up.
const maxBackground = 4096

// A background runs short functions that outlive the request they belong to,
// such as the cancellation of a request whose client has left.
type background struct {
	mu      sync.Mutex // guards the fields below
	closed  bool
	next    int
	running map[int]context.CancelFunc
	idle    chan struct{} // closed once closed is true and nothing runs
}

func newBackground() *background {
	return &background{running: map[int]context.CancelFunc{}, idle: make(chan struct{})}
}

// run starts f, whose context ends after the timeout. It reports whether it
// did: it does not once close was called, or while too many run.
func (b *background) run(timeout time.Duration, f func(context.Context)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.running) >= maxBackground {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	b.next++
	id := b.next
	b.running[id] = cancel
	go func() {
		defer b.finish(id)
		f(ctx)
	}()
	return true
}

func (b *background) finish(id int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[id]()
	delete(b.running, id)
	if b.closed && len(b.running) == 0 {
		close(b.idle)
	}
}

// close starts no more functions, lets those that run finish within the grace,
// then ends their contexts and blocks until they have returned. Call it once.
func (b *background) close(grace time.Duration) {
	b.mu.Lock()
	b.closed = true
	if len(b.running) == 0 {
		close(b.idle)
	}
	b.mu.Unlock()
	select {
	case <-b.idle:
	case <-time.After(grace):
	}
	b.mu.Lock()
	for _, cancel := range b.running {
		cancel()
	}
	b.mu.Unlock()
	<-b.idle
}
