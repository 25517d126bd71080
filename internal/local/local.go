package local

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/pod"
	"github.com/gorizond/koldun/internal/local/process"
)

// A Local runs claims on this machine.
//
// The goroutine of Run owns all fields without another comment.
type Local struct {
	cfg     Config
	ctx     context.Context //nolint:containedctx // of Run; what units start outlives the call that starts it
	inbox   chan func()     // any goroutine sends, through post
	closed  chan struct{}   // closed when the inbox is no longer read
	runners sync.WaitGroup

	secrets    *secrets    // safe for concurrent use
	configs    *configs    // safe for concurrent use
	composites *composites // safe for concurrent use

	table        *table
	compositions compositions
	pods         *pods
	roots        []Key
	fatal        error // that ends Run

	outcome outcome // safe for concurrent use
}

// New checks and stores claims. Nothing runs before Run.
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
	l := &Local{
		cfg:        cfg,
		inbox:      make(chan func(), 64),
		closed:     make(chan struct{}),
		secrets:    newSecrets(),
		configs:    newConfigs(),
		composites: newComposites(),
		outcome:    newOutcome(),
	}
	l.table = &table{
		observer: cfg.Observer, log: cfg.Logger, newUnit: l.newUnit,
		secrets: l.secrets, configs: l.configs, composites: l.composites,
		entries: map[Key]*entry{}, dirty: map[Key]bool{},
	}
	l.compositions = compositions{table: l.table, composer: cfg.Composer}
	l.pods = newPods(cfg, l.secrets)
	return l, nil
}

// newUnit returns what runs an object, nil if nothing does.
func (l *Local) newUnit(e *entry) unit {
	switch classOf(e.key) {
	case managedClass:
		return newManagedUnit(l, e)
	case workloadClass:
		return &workload{l: l, e: e, pods: map[string]*podRun{}}
	case jobClass:
		return &job{l: l, e: e}
	case serviceClass:
		return &service{l: l, e: e}
	}
	return nil
}

// Run runs the claims until ctx ends, stops everything in order, and returns nil
// when nothing runs. It stops everything and returns an error if this machine
// cannot run the claims, for example because a Service's port is in use. Call it
// once.
func (l *Local) Run(ctx context.Context) error {
	tether, err := process.NewTether()
	if err != nil {
		return fmt.Errorf("cannot run locally: %w", err)
	}
	defer tether.Close()
	l.pods.machine = &pod.Machine{Tether: tether, Binary: l.cfg.Binary, Logs: l.cfg.Data.Path("logs"), Grace: l.cfg.Grace, Exec: l.cfg.Exec}

	// Processes outlive ctx, because they are stopped step by step.
	running, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	l.ctx = running
	for _, claim := range l.cfg.Claims {
		l.roots = append(l.roots, claim.Key())
		if err := l.table.apply(claim, Key{}, ""); err != nil {
			l.fail(err)
		}
	}
	l.loop(ctx)
	l.shutdown()
	cut()
	l.closeInbox()
	l.outcome.end(l.fatal)
	return l.fatal
}

// Apply replaces the claims: it applies new and changed ones, and removes missing
// ones. It blocks until the claims are stored. It refuses claims that New would
// refuse, and then changes nothing. Call it while Run runs.
func (l *Local) Apply(claims []Object) error {
	claims, err := checkClaims(claims)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	l.post(func() { done <- l.replaceClaims(claims) })
	select {
	case err := <-done:
		return err
	case <-l.closed:
		return fault.Errorf(fault.Interrupted, "cannot apply claims: everything has been stopped")
	}
}

// replaceClaims replaces the roots by claims.
func (l *Local) replaceClaims(claims []Object) error {
	if l.table.ending {
		return fault.Errorf(fault.Interrupted, "cannot apply claims: everything is being stopped")
	}
	keep := map[Key]bool{}
	before := l.roots
	l.roots = nil
	var errs []error
	for _, claim := range claims {
		keep[claim.Key()] = true
		l.roots = append(l.roots, claim.Key())
		errs = append(errs, l.table.apply(claim, Key{}, ""))
	}
	for _, key := range before {
		if !keep[key] {
			l.table.remove(key)
		}
	}
	return errors.Join(errs...)
}

// loop composes and handles messages until ctx ends or a fatal error occurs.
func (l *Local) loop(ctx context.Context) {
	for {
		if l.fatal == nil {
			l.compositions.composeAll(l.ctx)
		}
		if l.fatal != nil {
			return
		}
		l.publishOutcome()
		select {
		case <-ctx.Done():
			return
		case f := <-l.inbox:
			f()
		}
		l.drainInbox()
	}
}

// drainInbox handles all waiting messages, so that a burst causes one
// composition.
func (l *Local) drainInbox() {
	for range cap(l.inbox) {
		select {
		case f := <-l.inbox:
			f()
		default:
			return
		}
	}
}

// closeInbox closes the inbox when no goroutine uses it any more.
func (l *Local) closeInbox() {
	close(l.closed)
	l.runners.Wait()
}

// post sends f to the goroutine of Run. After the end of Run it drops f.
func (l *Local) post(f func()) {
	select {
	case l.inbox <- f:
	case <-l.closed:
	}
}

// fail ends Run with the first error.
func (l *Local) fail(err error) {
	if l.fatal == nil {
		l.fatal = err
	}
}
