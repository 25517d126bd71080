package dispatch

import (
	"context"
	"sync"
)

const (
	inboxSize   = 1024
	maxParallel = 64 // concurrent calls to the streams
)

// A loop is the goroutine of a leader. It owns epoch, nextEpoch, err and the state of the
// parts of the leader, so that no mutex guards them: others send it functions to call.
type loop struct {
	*term
	epoch uint64
	// nextEpoch is the epoch from the next renewal on, set when a runner has seen
	// a newer epoch than the current one.
	nextEpoch uint64
	err       error // set: the leadership ends

	over <-chan struct{} // closed when the leadership ends
	// spawn calls a function in a goroutine with a context that ends with the
	// leadership, which waits for the goroutine.
	spawn      func(func(ctx context.Context))
	inbox      chan func()
	goroutines sync.WaitGroup
	calls      chan struct{} // one for each concurrent call
}

// newLoop returns the loop of a leader whose leadership ends with ctx.
func newLoop(ctx context.Context, t *term, epoch uint64) *loop {
	l := &loop{term: t, epoch: epoch, over: ctx.Done(), inbox: make(chan func(), inboxSize), calls: make(chan struct{}, maxParallel)}
	l.spawn = func(f func(context.Context)) { l.goroutines.Go(func() { f(ctx) }) }
	return l
}

// post makes the leader's goroutine call f, unless the leadership ends.
func (l *loop) post(f func()) {
	select {
	case l.inbox <- f:
	case <-l.over:
	}
}

// do calls work in one of maxParallel goroutines, and then done in the leader's
// goroutine.
func (l *loop) do(work func(ctx context.Context) error, done func(err error)) {
	l.spawn(func(ctx context.Context) {
		select {
		case l.calls <- struct{}{}:
			defer func() { <-l.calls }()
		case <-ctx.Done():
			return
		}
		err := work(ctx)
		if done != nil && ctx.Err() == nil {
			l.post(func() { done(err) })
		}
	})
}

// call is like do for requests to runners, of which each gets one at a time.
func (l *loop) call(work func(ctx context.Context) error, done func(err error)) {
	l.spawn(func(ctx context.Context) {
		err := work(ctx)
		l.post(func() { done(err) })
	})
}

// newerEpoch handles a runner that has seen a newer epoch. Either the lease is lost
// and its renewal fails, or the bucket with the epochs was lost, and this leader
// must renew its lease with a newer epoch.
func (l *loop) newerEpoch(epoch uint64) {
	l.nextEpoch = max(l.nextEpoch, epoch+1)
}
