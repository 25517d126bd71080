package engineapi

import "time"

// A silence calls a function when nothing has been heard for too long. It belongs
// to one goroutine.
type silence struct{ timer *time.Timer }

// newSilence starts the wait; with 0 it never ends.
func newSilence(d time.Duration, tooLong func()) silence {
	s := silence{time.AfterFunc(max(d, time.Second), tooLong)}
	s.heard(d)
	return s
}

// heard starts the wait again.
func (s silence) heard(d time.Duration) {
	s.timer.Stop()
	if d > 0 {
		s.timer.Reset(d)
	}
}

func (s silence) stop() { s.timer.Stop() }
