package connpool

import (
	"sync"

	"github.com/gorizond/koldun/provider/requeue"
)

// shared keeps one value for all managed resources with the same configuration C,
// for as long as one of them uses it.
type shared[C comparable, V any] struct {
	open  func(C) V
	close func(V)

	mu      sync.Mutex
	entries map[C]*entry[V]
	of      map[requeue.Key]C
}

type entry[V any] struct {
	value  V
	owners map[requeue.Key]bool
}

func newShared[C comparable, V any](open func(C) V, end func(V)) *shared[C, V] {
	return &shared[C, V]{open: open, close: end, entries: map[C]*entry[V]{}, of: map[requeue.Key]C{}}
}

// bind returns the value of an owner. It closes the owner's value of another
// configuration if no other owner uses it.
func (s *shared[C, V]) bind(owner requeue.Key, c C) V {
	s.mu.Lock()
	var closing []V
	if old, ok := s.of[owner]; ok && old != c {
		closing = s.drop(owner)
	}
	e := s.entries[c]
	if e == nil {
		e = &entry[V]{value: s.open(c), owners: map[requeue.Key]bool{}}
		s.entries[c] = e
	}
	e.owners[owner] = true
	s.of[owner] = c
	s.mu.Unlock()
	s.closeAll(closing)
	return e.value
}

// release ends the use of an owner.
func (s *shared[C, V]) release(owner requeue.Key) {
	s.mu.Lock()
	closing := s.drop(owner)
	s.mu.Unlock()
	s.closeAll(closing)
}

// releaseAll closes all values.
func (s *shared[C, V]) releaseAll() {
	s.mu.Lock()
	var closing []V
	for owner := range s.of {
		closing = append(closing, s.drop(owner)...)
	}
	s.mu.Unlock()
	s.closeAll(closing)
}

// drop is called with mu held. It returns the values to close without it.
func (s *shared[C, V]) drop(owner requeue.Key) []V {
	c, ok := s.of[owner]
	if !ok {
		return nil
	}
	delete(s.of, owner)
	e := s.entries[c]
	delete(e.owners, owner)
	if len(e.owners) > 0 {
		return nil
	}
	delete(s.entries, c)
	return []V{e.value}
}

func (s *shared[C, V]) closeAll(vs []V) {
	for _, v := range vs {
		s.close(v)
	}
}

// owners returns the owners of the value of c.
func (s *shared[C, V]) owners(c C) []requeue.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[c]
	if e == nil {
		return nil
	}
	out := make([]requeue.Key, 0, len(e.owners))
	for o := range e.owners {
		out = append(out, o)
	}
	return out
}

// len returns the number of open values.
func (s *shared[C, V]) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries)
}
