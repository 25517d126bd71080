package dispatch

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestPurger(t *testing.T) {
	now := time.Now()
	var s purger
	step := func(at time.Time, last bool, below uint64, single ...uint64) {
		t.Helper()
		gotBelow, gotLone := s.plan(at, last)
		if gotBelow != below || !slices.Equal(gotLone, single) {
			t.Errorf("plan: all below %d, and %v; want below %d, and %v", gotBelow, gotLone, below, single)
		}
	}
	for _, seq := range []uint64{5, 7, 8, 9, 12, 13} {
		s.add(seq, true)
	}
	step(now, false, 0)
	s.end(7, now)
	s.end(8, now)
	step(now, false, 0) // those behind an open one wait for it
	s.end(5, now)
	step(now, false, 9) // all in one go
	s.end(12, now)
	step(now.Add(purgeAfter-1), false, 0)
	step(now.Add(purgeAfter), false, 0, 12) // but not for long
	s.end(9, now)
	step(now, false, 0) // one alone waits, too
	s.end(13, now)
	step(now, false, 14)
	s.end(3, now) // it was never added
	step(now, false, 0, 3)
	s.add(20, true)
	s.add(21, true)
	s.end(21, now)
	step(now, true, 0, 21)
}

// Where sequences may be given out again, messages are removed one by one.
func TestPurgerWithoutOrder(t *testing.T) {
	now := time.Now()
	for name, again := range map[string]func(s *purger){
		"NotLasting": func(s *purger) { s.add(3, false) },
		"BegunAnew":  func(s *purger) { s.add(1, true) },
	} {
		t.Run(name, func(t *testing.T) {
			var s purger
			s.add(1, true)
			s.add(2, true)
			s.end(1, now)
			again(&s)
			s.end(2, now)
			s.end(3, now)
			below, single := s.plan(now, false)
			slices.Sort(single)
			if below != 0 || !slices.Equal(single, []uint64{1, 2, 3}) {
				t.Errorf("all below %d, and %v; want 1, 2, 3", below, single)
			}
			if len(s.messages) > 0 {
				t.Errorf("%v are remembered", s.messages)
			}
		})
	}
}

// In any order of ends, no open message is removed, and each ended one is.
func TestPurgerRemovesWhatEnded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	now := time.Now()
	var s purger
	stream := map[uint64]bool{} // whether it has ended
	seq := uint64(0)
	remove := func(last bool) {
		below, single := s.plan(now, last)
		for n, ended := range stream {
			if n < below || slices.Contains(single, n) {
				if !ended {
					t.Fatalf("message %d is removed, and is open", n)
				}
				delete(stream, n)
			}
		}
	}
	for range 2000 {
		now = now.Add(purgeAfter / 10)
		switch r.IntN(4) {
		case 0, 1:
			seq += 1 + r.Uint64N(3)
			stream[seq] = false
			s.add(seq, true)
		case 2:
			for n, ended := range stream {
				if !ended {
					stream[n] = true
					s.end(n, now)
					break
				}
			}
		case 3:
			remove(false)
		}
	}
	remove(true)
	for n, ended := range stream {
		if ended {
			t.Errorf("message %d has ended and stays", n)
		}
	}
}
