package serving_test

import (
	"slices"
	"strings"
	"time"
)

// engine is the part of a nonce that names the process of the engine.
func (g generation) engine() string {
	engine, _, _ := strings.Cut(g.Nonce, "-")
	return engine
}

// checkSlots looks whether engines computed more requests at the same time than
// they have slots. Generations that were cut off do not count, since an engine
// notices that late, nor do those near a fault.
func (h history) checkSlots(r *report) {
	if h.slots == 0 {
		return
	}
	for _, g := range h.generations {
		if !h.counts(g) {
			continue
		}
		r.examine(withinSlots)
		if n := h.together(g); n > h.slots {
			r.violated(withinSlots, "engine %s computed %d requests at the same time, %s among them, and has %d slots", g.engine(), n, g.ID, h.slots)
		}
	}
}

func (h history) counts(g generation) bool {
	return g.Whole && !slices.ContainsFunc(h.faults, func(s span) bool {
		return s.touches(entry{invoked: g.Began, ended: g.Ended}, time.Second, 5*time.Second)
	})
}

// together counts the generations that the engine of g computed when g began.
func (h history) together(g generation) (n int) {
	for _, other := range h.generations {
		if other.engine() == g.engine() && h.counts(other) && !other.Began.After(g.Began) && other.Ended.After(g.Began) {
			n++
		}
	}
	return n
}

// most is how many whole generations an engine computed at the same time at
// most, faults or not.
func (h history) most() (n int) {
	for _, g := range h.generations {
		n = max(n, history{generations: h.generations}.together(g))
	}
	return n
}
