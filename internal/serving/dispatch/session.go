package dispatch

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// errIdle ends the leadership of a session without requests and runners.
var errIdle = errors.New("the session has neither requests nor runners")

// A session is this process's state of a session, as leader or not.
type session struct {
	name      string
	leaseNews chan struct{} // cap 1: the lease has changed
	news      chan struct{} // cap 1: runners have changed

	running bool // whether its loop runs; guarded by manager.mu
	// wanted says whether the session has changed since a leader, here or elsewhere, has
	// handled all changes.
	wanted atomic.Bool

	mu      sync.Mutex // guards the fields below
	runners map[string]queue.Runner
	dirty   map[string]bool // runners that have changed since the last call of changes
}

func newSession(name string) *session {
	return &session{
		name:      name,
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
