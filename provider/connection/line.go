package connection

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/fault"
)

const (
	// dialWithin bounds how long a reconcile waits for a server.
	dialWithin = 5 * time.Second
	// redialAfter is how long a failure to connect counts for all who ask.
	redialAfter = 3 * time.Second
	// lostGrace is how long a connection has to be lost until those who use it are
	// told: a server that restarts is no news.
	lostGrace = 15 * time.Second
)

// A Line is a connection to NATS that is made when it is first needed. It is
// safe for concurrent use.
type Line struct {
	cfg  bus.Config
	wake func() // everybody who uses the line

	dialing chan struct{} // holds a token while one caller dials

	mu     sync.Mutex // guards the fields below
	bus    *bus.Bus
	err    error // of the last attempt
	failed time.Time
	closed bool
	heard  map[string]*notices
	parts  map[string]any
	stop   chan struct{}
	done   chan struct{}
}

func newLine(cfg bus.Config, wake func()) *Line {
	return &Line{
		cfg: cfg, wake: wake, dialing: make(chan struct{}, 1),
		heard: map[string]*notices{}, parts: map[string]any{},
	}
}

// Connected is the connection. It blocks for dialWithin at most. Errors: of
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
		l.stop, l.done = make(chan struct{}), make(chan struct{})
		go l.attend(b, l.stop, l.done)
	}
	return b, err
}

// known is what is known of the connection; again says that an attempt to
// connect is due.
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

// attend wakes those who use the line when it has been restored, and when it
// has been lost for long.
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
				l.wake()
				continue
			}
			lost.Reset(lostGrace)
		case <-lost.C:
			if !b.Connected() {
				l.wake()
			}
		}
	}
}

// Follow returns a channel that holds one token whenever something passed on
// a subject for which topic returns one of the given ones. stop has to be called once.
// Errors: Transient.
func (l *Line) Follow(ctx context.Context, subject string, topic func(subject string) string, of ...string) (news <-chan struct{}, stop func(), err error) {
	b, err := l.Connected(ctx)
	if err != nil {
		return nil, nil, err
	}
	n, err := l.listen(b, subject, topic)
	if err != nil {
		return nil, nil, err
	}
	news, stop = n.follow(of)
	return news, stop, nil
}

// listen hears what passes on a subject, for as long as the line is open.
// Errors: Transient.
func (l *Line) listen(b *bus.Bus, subject string, topic func(string) string) (*notices, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.heard[subject]; n != nil {
		return n, nil
	}
	n, err := listen(b, subject, topic)
	if err == nil {
		l.heard[subject] = n
	}
	return n, err
}

// part is something that all who use the line share, made once.
func (l *Line) part(name string, open func() any) any {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, ok := l.parts[name]
	if !ok {
		p = open()
		l.parts[name] = p
	}
	return p
}

// close ends the connection.
func (l *Line) close() {
	l.mu.Lock()
	l.closed = true
	b, stop, done, heard := l.bus, l.stop, l.done, l.heard
	l.mu.Unlock()
	if b == nil {
		return
	}
	for _, n := range heard {
		n.close()
	}
	close(stop)
	<-done
	b.Close()
}
