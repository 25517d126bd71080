package demand

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/external/pace"
)

// maxListed limits a list. The schema of Demand has the same limit.
const maxListed = 128

// A ledger is the list of one Demand. It limits the rate of changes, so that the
// composite of the Demand stays within its budget of updates.
type ledger struct {
	listed  map[string]Session
	budget  pace.Budget
	settled time.Time // missing pools stay listed until this time
	watched int       // number of watches
}

// newLedger continues an earlier list.
func newLedger(known []Session, now time.Time) *ledger {
	l := &ledger{listed: map[string]Session{}, settled: now.Add(settle)}
	for _, s := range known {
		l.listed[s.Key] = s
	}
	return l
}

// enter updates the list with the live pools, of which at most maxIsolated are
// isolated. Until settled, missing pools stay in the list. The result again is
// the time of the next call if nothing changes; zero means never.
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

// next returns the list that follows from the live pools. missing reports
// whether it contains a pool that is not live, which happens only until settled.
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

// shrink drops excess isolated pools, and counts the others.
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

// order sorts shared pools first, because most requests wait for them.
func order(a, b Session) int {
	if a.Isolated != b.Isolated {
		if a.Isolated {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.Key, b.Key)
}
