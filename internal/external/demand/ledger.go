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

// A ledger is what one Demand lists. New pools are entered paced, so that
// whoever composes them keeps within its budget of updates.
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
	alive := make(map[string]Session, len(live))
	for _, s := range live {
		alive[s.Key] = s
	}
	missing := false
	for key := range l.listed {
		if s, ok := alive[key]; ok {
			l.listed[key] = s
			continue
		}
		missing = true
		if !now.Before(settled) {
			delete(l.listed, key)
		}
	}
	if missing && now.Before(settled) {
		again = settled
	}
	apart := l.shrink(most)
	for _, s := range slices.SortedFunc(slices.Values(live), order) {
		if _, ok := l.listed[s.Key]; ok || s.Isolated && apart >= most || len(l.listed) >= maxListed {
			continue
		}
		ok, at := l.budget.Take(pace.AppearPool, now)
		if !ok {
			again = at
			break
		}
		l.listed[s.Key] = s
		if s.Isolated {
			apart++
		}
	}
	return slices.SortedFunc(maps.Values(l.listed), func(a, b Session) int { return cmp.Compare(a.Key, b.Key) }), again
}

// shrink drops the pools kept apart that are too many, and counts the rest.
func (l *ledger) shrink(most int) (apart int) {
	for _, s := range slices.SortedFunc(maps.Values(l.listed), order) {
		if !s.Isolated {
			continue
		}
		if apart >= most {
			delete(l.listed, s.Key)
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
