package serving_test

import (
	"slices"
	"strings"
	"time"
)

// engine returns the part of the nonce that identifies the engine's process.
func (g generation) engine() string {
	engine, _, _ := strings.Cut(g.Nonce, "-")
	return engine
}

// checkSlots checks that no engine computed more requests at the same time than it
// has slots. Aborted generations do not count, because an engine notices an abort
// late, nor do those near a fault.
func (h history) checkSlots(r *report) {
	if h.slots == 0 {
		return
	}
	for _, g := range h.generations {
		if !h.counts(g) {
			continue
		}
		r.examine(withinSlots)
		if n := h.concurrent(g); n > h.slots {
			r.violated(withinSlots, "engine %s computed %d requests at the same time, %s among them, and has %d slots", g.engine(), n, g.ID, h.slots)
		}
	}
}

func (h history) counts(g generation) bool {
	return g.Whole && !slices.ContainsFunc(h.faults, func(s span) bool {
		return s.touches(entry{invoked: g.Began, ended: g.Ended}, time.Second, 5*time.Second)
	})
}

// concurrent counts the generations that the engine of g computed when g began.
func (h history) concurrent(g generation) (n int) {
	for _, other := range h.generations {
		if other.engine() == g.engine() && h.counts(other) && !other.Began.After(g.Began) && other.Ended.After(g.Began) {
			n++
		}
	}
	return n
}

// maxConcurrent returns the greatest number of whole generations that an engine
// computed at the same time, including those near faults.
func (h history) maxConcurrent() (n int) {
	for _, g := range h.generations {
		n = max(n, history{generations: h.generations}.concurrent(g))
	}
	return n
}
