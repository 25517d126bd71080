package workloadstatus

import (
	"time"

	"github.com/gorizond/koldun/internal/external/workloadstatus/diagnose"
)

// lasts is how long a diagnosis has to stay before it is reported. Pods wait for
// Secrets that are written a moment later, and containers that end may start well.
const lasts = 3 * time.Second

// A settler holds changes back until they last.
type settler struct {
	reported, next diagnose.Diagnosis
	since          time.Time // of next
}

// settle takes the diagnosis of now. It reports whether the diagnosis to report has
// changed, and after which time it has to be called again; 0 is after a change.
func (s *settler) settle(now time.Time, d diagnose.Diagnosis) (changed bool, again time.Duration) {
	if d == s.reported {
		s.next = d
		return false, 0
	}
	if d != s.next {
		s.next, s.since = d, now
	}
	if left := lasts - now.Sub(s.since); left > 0 {
		return false, left
	}
	s.reported = d
	return true, 0
}
