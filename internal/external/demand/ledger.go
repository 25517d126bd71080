package demand

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/external/pace"
)

// maxListed bounds a list. The schema of Demand has the same bound.
const maxListed = 128

// A ledger is what one Demand lists. A list that changes again and again is
// changed paced, so that whoever composes the Demand keeps within its budget of
// updates.
type ledger struct {
	listed  map[string]Session
	budget  pace.Budget
	settled time.Time // not before, since nobody was here to see what happened
	watched int       // by so many
}

// newLedger continues a list that was made before.
func newLedger(known []Session, now time.Time) *ledger {
	l := &ledger{listed: map[string]Session{}, settled: now.Add(settle)}
	for _, s := range known {
		l.listed[s.Key] = s
	}
	return l
}

// enter brings the list up to date with the pools that are live, of which at
// most so many are kept apart. Until settled, pools that are missing may come
// back and stay. again is when to do it once more without any news; zero means
// that there is no need to.
func (l *ledger) enter(live []Session, most int, settled, now time.Time) (listed []Session, again time.Time) {
	if settled.Before(l.settled) {
		settled = l.settled
	}
	next, missing := l.next(live, most, !now.Before(settled))
	if missing {
		again = settled
	}
	if !maps.Equal(next, l.listed) {
		ok, at := l.budget.Take(pace.Change, now)
		if ok {
			l.listed = next
		} else {
			again = at
		}
	}
	return slices.SortedFunc(maps.Values(l.listed), func(a, b Session) int { return cmp.Compare(a.Key, b.Key) }), again
}

// next is the list that follows from what is live. missing reports whether there
// is one in it that is not live, which only counts when that is settled.
func (l *ledger) next(live []Session, most int, settled bool) (next map[string]Session, missing bool) {
	next = maps.Clone(l.listed)
	alive := make(map[string]Session, len(live))
	for _, s := range live {
		alive[s.Key] = s
	}
	for key := range next {
		s, ok := alive[key]
		switch {
		case ok:
			next[key] = s
		case settled:
			delete(next, key)
		default:
			missing = true
		}
	}
	apart := shrink(next, most)
	for _, s := range slices.SortedFunc(slices.Values(live), order) {
		if _, ok := next[s.Key]; ok || s.Isolated && apart >= most || len(next) >= maxListed {
			continue
		}
		next[s.Key] = s
		if s.Isolated {
			apart++
		}
	}
	return next, missing
}

// shrink drops the pools kept apart that are too many, and counts the rest.
func shrink(listed map[string]Session, most int) (apart int) {
	for _, s := range slices.SortedFunc(maps.Values(listed), order) {
		if !s.Isolated {
			continue
		}
		if apart >= most {
			delete(listed, s.Key)
			continue
		}
		apart++
	}
	return apart
}

// order puts the pools that all share first: most wait for them.
func order(a, b Session) int {
	if a.Isolated != b.Isolated {
		if a.Isolated {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.Key, b.Key)
}
