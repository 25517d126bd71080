package sidecar

import (
	"slices"
	"sync"
	"time"
)

// frameLogs are the frame logs of running and of recently ended attempts. mu guards both
// fields. It may be taken with a runner's mu held, and is held while it takes a log's.
type frameLogs struct {
	mu        sync.Mutex
	resumable resumable // of running and ended attempts
	ended     endedLogs
}

// add stores the log of an attempt that begins.
func (s *frameLogs) add(l *frameLog) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resumable.add(l)
}

// end notes that the attempt of a log has ended, and drops the oldest ended logs that
// exceed the limits.
func (s *frameLogs) end(l *frameLog, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, dropped := range s.ended.add(l, now) {
		s.resumable.remove(dropped)
	}
}

// of returns the logs of a request's attempts.
func (s *frameLogs) of(request string) []*frameLog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.resumable[request])
}
