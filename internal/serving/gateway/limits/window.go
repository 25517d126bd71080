package limits

import "time"

const (
	step  = 5 * time.Second // resolution of a window
	steps = 12              // in a minute
)

// A window is a sliding window of a minute that counts in steps: it drops the
// oldest step as a whole, after 55 to 60 s. The zero value is empty.
type window struct {
	last   int64 // number of the latest step, in steps since 1970
	counts [steps]int64
}

func stepAt(now time.Time) int64 { return now.UnixNano() / int64(step) }

// add counts n, which may be below 0, at a step.
func (w *window) add(at, n int64) {
	w.advance(at)
	if at > w.last-steps {
		w.counts[at%steps] += n
	}
}

// advance drops the counts that are too old at a step.
func (w *window) advance(at int64) {
	if at-w.last >= steps {
		w.counts = [steps]int64{}
	} else {
		for i := w.last + 1; i <= at; i++ {
			w.counts[i%steps] = 0
		}
	}
	w.last = max(w.last, at)
}

// each calls visit with the steps up to the given one whose count is not 0,
// oldest first.
func (w *window) each(at int64, visit func(step, n int64)) {
	for i := max(at, w.last) - steps + 1; i <= w.last; i++ {
		if n := w.counts[i%steps]; n != 0 && i > w.last-steps {
			visit(i, n)
		}
	}
}

// A sum adds up windows as they are at one moment.
type sum struct {
	at     int64 // the step of that moment
	total  int64
	counts [steps]int64 // by age in steps
}

func (s *sum) add(w *window) {
	w.each(s.at, func(i, n int64) {
		age := max(s.at-i, 0) // of a peer whose clock is ahead
		s.counts[age] += n
		s.total += n
	})
}

// below returns how long it takes until the total is below a limit if nothing is
// added, or 0 if it is below.
func (s *sum) below(limit int64, now time.Time) time.Duration {
	left := s.total
	if left < limit {
		return 0
	}
	for age := int64(steps - 1); age >= 0; age-- {
		if left -= s.counts[age]; left < limit {
			end := time.Unix(0, (s.at-age+steps)*int64(step))
			return end.Sub(now)
		}
	}
	return time.Minute // only if the limit is 0
}
