package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The circuit breaker's defaults, from Crossplane's internal/circuit: a bucket
// of 100 tokens for each composite, refilled by one a second. Its map function
// runs twice for an update (old and new object) and once for a creation.
const (
	Burst      = 100.0
	perSecond  = 1.0
	costCreate = 1.0
	costUpdate = 2.0
)

// An account is the spending of one composite.
type account struct {
	tokens, lowest float64
	spent          float64
	last           time.Time
	by             map[string]float64 // spending by source of events
}

func newAccount(now time.Time) *account {
	return &account{tokens: Burst, lowest: Burst, last: now, by: map[string]float64{}}
}

func (a *account) spend(now time.Time, source string, cost float64) {
	a.tokens = a.left(now) - cost
	a.last = now
	a.lowest = min(a.lowest, a.tokens)
	a.spent += cost
	a.by[source] += cost
}

// left returns the number of tokens at that time.
func (a *account) left(now time.Time) float64 {
	return min(Burst, a.tokens+perSecond*now.Sub(a.last).Seconds())
}

// report lists the sources, largest first.
func (a *account) report() string {
	sources := make([]string, 0, len(a.by))
	for s := range a.by {
		sources = append(sources, s)
	}
	slices.SortFunc(sources, func(x, y string) int {
		return cmp.Or(cmp.Compare(a.by[y], a.by[x]), strings.Compare(x, y))
	})
	for i, s := range sources {
		sources[i] = fmt.Sprintf("%s %.0f", s, a.by[s])
	}
	return fmt.Sprintf("spent %.0f, minimum left %.0f: %s", a.spent, a.lowest, strings.Join(sources, ", "))
}
