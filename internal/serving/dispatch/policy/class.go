package policy

import "math"

// A Class is the priority of a job.
type Class int

// The classes, from the most urgent on.
const (
	High Class = iota
	Normal
	Low
	classes // how many there are
)

// share is how many tokens a class is served for each of the lowest's, while
// jobs of all wait. None is served strictly before another, or the lower one
// would starve.
func (c Class) share() float64 {
	switch c {
	case High:
		return 16
	case Normal:
		return 4
	case Low, classes:
	}
	return 1
}

// A band holds the tenants of a class that have eligible jobs. The same tenant
// is counted in each class for itself.
type band struct {
	class  Class
	served float64        // tokens by share, on a scale that only grows
	turns  index[*tenant] // with eligible jobs, fewest tokens first
	floor  float64        // tokens of the tenant that was served last
}

func newBand(c Class) *band {
	return &band{class: c, turns: index[*tenant]{compare: byServed, place: func(t *tenant) *int { return &t.place }}}
}

// next is the tenant whose turn it is, in the class whose turn it is; nil if
// no job is eligible.
func (q *Queue) next() *tenant {
	best, least := (*band)(nil), math.Inf(1)
	for _, b := range q.bands {
		if b.turns.Len() > 0 && b.served < least {
			best, least = b, b.served
		}
	}
	if best == nil {
		return nil
	}
	t, _ := best.turns.top()
	return t
}

// serve books what a job is expected to cost when it goes.
func (q *Queue) serve(t *tenant, cost int) {
	q.floor = max(q.floor, t.band.served)
	t.band.floor = max(t.band.floor, t.served)
	q.charge(t, cost)
}

// charge books tokens on a tenant and its class; a negative number gives some back.
func (q *Queue) charge(t *tenant, tokens int) {
	t.served += float64(tokens)
	t.band.served += float64(tokens) / t.band.class.share()
	if t.place >= 0 {
		t.band.turns.fix(t)
	}
}
