package connpool

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
)

const (
	// dialWithin bounds how long a reconcile waits for a server.
	dialWithin = 5 * time.Second
	// redialAfter is how long a failed attempt to connect stands for all callers.
	redialAfter = 3 * time.Second
	// lostGrace is how long a connection has to be lost before the resources that
	// use it are reconciled: a server that restarts is back sooner.
	lostGrace = 15 * time.Second
)

// A Line is a connection to NATS that is opened when it is first needed. It is
// safe for concurrent use.
type Line struct {
	cfg     bus.Config
	enqueue func() // all resources that use the line

	dialing chan struct{} // holds a token while one caller dials

	mu     sync.Mutex // guards the fields below
	bus    *bus.Bus
	shared *catalog.Shared // of bus
	err    error           // of the last attempt
	failed time.Time
	closed bool
	stop   chan struct{}
	done   chan struct{}
}

func newLine(cfg bus.Config, enqueue func()) *Line {
	return &Line{cfg: cfg, enqueue: enqueue, dialing: make(chan struct{}, 1)}
}

// Connected returns the connection. It blocks for dialWithin at most. Errors: of
// bus.Connect; Transient while the connection is lost.
func (l *Line) Connected(ctx context.Context) (*bus.Bus, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	select {
	case l.dialing <- struct{}{}:
		defer func() { <-l.dialing }()
	case <-ctx.Done():
		return nil, fault.Errorf(fault.Transient, "cannot connect to NATS at %q: no answer", l.cfg.Address())
	}
	b, again, err := l.known()
	if !again {
		return b, err
	}
	b, err = bus.Connect(ctx, l.cfg)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed && err == nil {
		b.Close()
		return nil, fault.Errorf(fault.Transient, "cannot connect to NATS at %q: the connection is not needed any more", l.cfg.Address())
	}
	l.bus, l.err, l.failed = b, err, time.Now()
	if err == nil {
		l.shared = catalog.NewShared(b)
		l.stop, l.done = make(chan struct{}), make(chan struct{})
		go l.attend(b, l.stop, l.done)
	}
	return b, err
}

// Shared returns what all resources share that use the connection. Errors: as of
// Connected.
func (l *Line) Shared(ctx context.Context) (*catalog.Shared, error) {
	if _, err := l.Connected(ctx); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shared, nil
}

// known returns the connection or the last error. again reports that an attempt
// to connect is due.
func (l *Line) known() (b *bus.Bus, again bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.bus != nil:
		if err := l.bus.Lost(); err != nil {
			return nil, false, fmt.Errorf("cannot reach NATS at %q: %w", l.cfg.Address(), err)
		}
		return l.bus, false, nil
	case l.err != nil && time.Since(l.failed) < redialAfter:
		return nil, false, l.err
	}
	return nil, true, nil
}

// attend enqueues the resources that use the line when it is restored, and when
// it has been lost for lostGrace.
func (l *Line) attend(b *bus.Bus, stop, done chan struct{}) {
	defer close(done)
	status := b.Conn().StatusChanged(nats.CONNECTED, nats.RECONNECTING, nats.DISCONNECTED)
	lost := time.NewTimer(lostGrace)
	lost.Stop()
	defer lost.Stop()
	for {
		select {
		case <-stop:
			b.Conn().RemoveStatusListener(status)
			return
		case s := <-status:
			if s == nats.CONNECTED {
				lost.Stop()
				l.enqueue()
				continue
			}
			lost.Reset(lostGrace)
		case <-lost.C:
			if !b.Connected() {
				l.enqueue()
			}
		}
	}
}

// close closes the connection.
func (l *Line) close() {
	l.mu.Lock()
	l.closed = true
	b, stop, done, shared := l.bus, l.stop, l.done, l.shared
	l.mu.Unlock()
	if b == nil {
		return
	}
	shared.Close()
	close(stop)
	<-done
	b.Close()
}
