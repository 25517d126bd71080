package workloadstatus

import (
	"time"

	"github.com/gorizond/koldun/internal/external/workloadstatus/diagnose"
)

// lasts is how long a diagnosis has to stay before it is reported. Pods wait for
// Secrets that are written a moment later, and containers that end may start well.
const lasts = 3 * time.Second

// calm is the least time between reports of other texts of the same reason, or about
// another pod: a text of another program may differ with each retry.
const calm = time.Minute

// A settler holds changes back until they last.
type settler struct {
	reported, next diagnose.Diagnosis
	since          time.Time // of the reason of next; zero if next is reported
	at             time.Time // of the last report
}

// settle takes the diagnosis of now. It reports whether the diagnosis to report has
// changed, and after which time it has to be called again; 0 is after a change.
func (s *settler) settle(now time.Time, d diagnose.Diagnosis) (changed bool, again time.Duration) {
	if d == s.reported {
		s.next, s.since = d, time.Time{}
		return false, 0
	}
	if s.since.IsZero() || d.Reason != s.next.Reason {
		s.since = now
	}
	s.next = d
	left := lasts - now.Sub(s.since)
	if d.Reason == s.reported.Reason {
		left = max(left, calm-now.Sub(s.at))
	}
	if left > 0 {
		return false, left
	}
	s.reported, s.since, s.at = d, time.Time{}, now
	return true, 0
}
