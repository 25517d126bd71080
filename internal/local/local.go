package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/pod"
	"github.com/gorizond/koldun/internal/local/process"
)

// A Local runs claims on this machine.
//
// Its fields belong to the goroutine of Run, unless they say otherwise.
type Local struct {
	cfg     Config
	ctx     context.Context //nolint:containedctx // of Run; what units start outlives the call that starts it
	inbox   chan func()     // any goroutine sends, through post
	closed  chan struct{}   // closed when the inbox is not read any more
	machine *pod.Machine
	ports   *pod.Ports
	runners sync.WaitGroup

	secrets    *secrets    // safe for concurrent use
	composites *composites // safe for concurrent use

	table  map[Key]*entry
	order  []Key        // of the table, oldest first
	dirty  map[Key]bool // composites to compose
	roots  []Key
	ending bool
	fatal  error // that ends Run

	outcome outcome // safe for concurrent use
}

// New checks claims and takes them in. Nothing runs before Run.
func New(cfg Config) (*Local, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	claims, err := checkClaims(cfg.Claims)
	if err != nil {
		return nil, err
	}
	cfg.Claims = claims
	return &Local{
		cfg:        cfg,
		inbox:      make(chan func(), 64),
		closed:     make(chan struct{}),
		ports:      pod.NewPorts(),
		secrets:    newSecrets(),
		composites: newComposites(),
		table:      map[Key]*entry{},
		dirty:      map[Key]bool{},
		outcome:    newOutcome(),
	}, nil
}

// Run runs the claims until ctx ends, then stops everything in order, and
// returns nil when nothing is left. It returns an error, likewise with nothing
// left, if the claims cannot be run at all on this machine, such as when a
// Service's port is in use. To be called once.
func (l *Local) Run(ctx context.Context) error {
	tether, err := process.NewTether()
	if err != nil {
		return fmt.Errorf("cannot run locally: %w", err)
	}
	defer tether.Close()
	l.machine = &pod.Machine{Tether: tether, Binary: l.cfg.Binary, Logs: l.cfg.Data.Path("logs"), Grace: l.cfg.Grace}

	// What runs outlives ctx: it is stopped step by step.
	running, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	l.ctx = running
	for _, claim := range l.cfg.Claims {
		l.roots = append(l.roots, claim.Key())
		if err := l.apply(claim, Key{}, ""); err != nil {
			l.fail(err)
		}
	}
	l.loop(ctx)
	l.shutdown()
	cut()
	l.drain()
	l.outcome.end(l.fatal)
	return l.fatal
}

// Apply takes other claims in place of those so far: what is new or changed is
// brought about, and what is missing removed. It blocks until they are taken in,
// and refuses claims that New would refuse, changing nothing. To be called while
// Run runs.
func (l *Local) Apply(claims []Object) error {
	claims, err := checkClaims(claims)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	l.post(func() { done <- l.exchange(claims) })
	select {
	case err := <-done:
		return err
	case <-l.closed:
		return fault.Errorf(fault.Interrupted, "cannot apply claims: everything has been stopped")
	}
}

// exchange makes claims the roots.
func (l *Local) exchange(claims []Object) error {
	if l.ending {
		return fault.Errorf(fault.Interrupted, "cannot apply claims: everything is being stopped")
	}
	keep := map[Key]bool{}
	before := l.roots
	l.roots = nil
	var errs []error
	for _, claim := range claims {
		keep[claim.Key()] = true
		l.roots = append(l.roots, claim.Key())
		errs = append(errs, l.apply(claim, Key{}, ""))
	}
	for _, key := range before {
		if !keep[key] {
			l.remove(key)
		}
	}
	return errors.Join(errs...)
}

// loop composes and takes messages until ctx ends or something fatal happens.
func (l *Local) loop(ctx context.Context) {
	for {
		if l.fatal == nil {
			l.composeAll()
		}
		if l.fatal != nil {
			return
		}
		l.publish()
		select {
		case <-ctx.Done():
			return
		case f := <-l.inbox:
			f()
		}
		l.takeWaiting()
	}
}

// takeWaiting takes the messages that are there already, so that a burst of
// them costs one composition.
func (l *Local) takeWaiting() {
	for range cap(l.inbox) {
		select {
		case f := <-l.inbox:
			f()
		default:
			return
		}
	}
}

// drain ends the inbox when nobody is left who could use it.
func (l *Local) drain() {
	close(l.closed)
	l.runners.Wait()
}

// post hands f to the goroutine of Run. After its end f is dropped.
func (l *Local) post(f func()) {
	select {
	case l.inbox <- f:
	case <-l.closed:
	}
}

// fail ends Run. The first error counts.
func (l *Local) fail(err error) {
	if l.fatal == nil {
		l.fatal = err
	}
}

// tell passes an event on.
func (l *Local) tell(e Event) {
	e.Time = time.Now()
	if known := l.table[e.Object]; known != nil {
		e.Owner, e.Role = known.owner, known.role
	}
	l.cfg.Observer.Observe(e)
}

// troubled reports what is wrong with an object now, if anything, unless it has
// been reported last time.
func (l *Local) troubled(e *entry, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if err != nil && text != e.trouble {
		l.trouble(e.key, err)
	}
	e.trouble = text
}

// trouble reports something that will be tried again.
func (l *Local) trouble(about Key, err error) {
	l.cfg.Logger.Debug("trouble", "object", about.String(), "kind", fault.KindOf(err), "error", err)
	l.tell(Event{Type: Trouble, Object: about, Message: err.Error()})
}
