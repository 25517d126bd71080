package dispatch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// errIdle ends the leadership of a session without requests and runners.
var errIdle = errors.New("the session has neither requests nor runners")

// A session is this process's state of a session, as leader or not.
type session struct {
	m         *manager
	name      string
	leaseNews chan struct{} // cap 1: the lease has changed
	news      chan struct{} // cap 1: runners have changed

	// Guarded by m.mu:
	running bool // whether loop runs
	wanted  bool // whether the session has changed since loop last checked

	mu      sync.Mutex
	runners map[string]queue.Runner
	dirty   map[string]bool // runners that have changed since the last call of changes
}

func newSession(m *manager, name string) *session {
	return &session{
		m: m, name: name,
		leaseNews: make(chan struct{}, 1),
		news:      make(chan struct{}, 1),
		runners:   map[string]queue.Runner{},
		dirty:     map[string]bool{},
	}
}

func (s *session) runnerChanged(name string, r queue.Runner) {
	s.mu.Lock()
	s.runners[name] = r
	s.dirty[name] = true
	s.mu.Unlock()
	s.signalRunners()
}

func (s *session) runnerGone(name string) {
	s.mu.Lock()
	delete(s.runners, name)
	s.dirty[name] = true
	s.mu.Unlock()
	s.signalRunners()
}

// signalLease and signalRunners wake the loop or the leader. They do not block.
func (s *session) signalLease() {
	select {
	case s.leaseNews <- struct{}{}:
	default: // a signal is pending
	}
}

func (s *session) signalRunners() {
	select {
	case s.news <- struct{}{}:
	default: // a signal is pending
	}
}

// changes calls f for each runner that has changed since the last call, or for all
// runners. gone means that the runner no longer has a record.
func (s *session) changes(all bool, f func(name string, r queue.Runner, gone bool)) {
	s.mu.Lock()
	type change struct {
		r  queue.Runner
		ok bool
	}
	found := map[string]change{}
	for name := range s.dirty {
		r, ok := s.runners[name]
		found[name] = change{r, ok}
	}
	if all {
		for name, r := range s.runners {
			found[name] = change{r, true}
		}
	}
	clear(s.dirty)
	s.mu.Unlock()
	for name, c := range found {
		f(name, c.r, !c.ok)
	}
}

func (s *session) hasRunners() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.runners) > 0
}

// loop leads the session, or waits to, until it is idle or ctx ends.
func (s *session) loop(ctx context.Context) {
	log := s.m.cfg.Logger.With("session", s.name)
	for {
		t := s.standBy(ctx)
		if t == nil {
			return
		}
		log.Info("leading", "epoch", t.lease.Epoch)
		s.m.metrics.leading.Inc()
		err := lead(ctx, s, t)
		s.m.metrics.leading.Dec()
		log.Info("no longer leading", "epoch", t.lease.Epoch, "reason", err)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, errIdle) && s.m.removeUnlessWanted(s) {
			return
		}
	}
}

// standBy blocks until this process holds the session's lease. It returns nil when
// ctx ends or when the session needs no leader.
func (s *session) standBy(ctx context.Context) *heldLease {
	pause := time.Duration(0)
	for {
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-s.leaseNews:
		case <-timer.C:
		}
		timer.Stop()
		pause = s.m.cfg.LeaseTTL
		if !s.m.isSynced() {
			continue
		}
		var old *observedLease
		if seen, ok := s.m.observedLease(s.name); ok {
			if left := seen.left(s.m.cfg.LeaseTTL, time.Now()); left > 0 {
				s.m.clearWanted(s)
				pause = left
				continue
			}
			old = &seen
		} else if !s.hasRunners() && s.m.removeUnlessWanted(s) {
			return nil // its leader found it idle, and it has not changed since
		}
		t, err := s.m.acquire(ctx, s.name, old)
		if err == nil {
			return t
		}
		pause = retryAfter(s.m.cfg.LeaseTTL)
		if !fault.Is(err, fault.Conflict) && ctx.Err() == nil {
			s.m.cfg.Logger.Debug("cannot acquire a lease yet", "session", s.name, "error", err)
		}
	}
}
