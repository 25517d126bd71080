package history

import (
	"slices"
	"strings"
	"time"
)

// engine returns the part of the nonce that identifies the engine's process.
func (g Generation) engine() string {
	engine, _, _ := strings.Cut(g.Nonce, "-")
	return engine
}

// checkSlots checks that no engine computed more requests at the same time than it
// has slots. Aborted generations do not count, because an engine notices an abort
// late, nor do those near a fault.
func (h History) checkSlots(r *report) {
	if h.Slots == 0 {
		return
	}
	for _, g := range h.Generations {
		if !h.counts(g) {
			continue
		}
		r.examine(withinSlots)
		if n := h.concurrent(g); n > h.Slots {
			r.violated(withinSlots, "engine %s computed %d requests at the same time, %s among them, and has %d slots", g.engine(), n, g.ID, h.Slots)
		}
	}
}

func (h History) counts(g Generation) bool {
	return g.Whole && !slices.ContainsFunc(h.Faults, func(s Span) bool {
		return s.touches(Entry{Invoked: g.Began, Ended: g.Ended}, time.Second, 5*time.Second)
	})
}

// concurrent counts the generations that the engine of g computed when g began.
func (h History) concurrent(g Generation) (n int) {
	for _, other := range h.Generations {
		if other.engine() == g.engine() && h.counts(other) && !other.Began.After(g.Began) && other.Ended.After(g.Began) {
			n++
		}
	}
	return n
}

// MaxConcurrent returns the greatest number of whole generations that an engine
// computed at the same time, including those near faults.
func (h History) MaxConcurrent() (n int) {
	for _, g := range h.Generations {
		n = max(n, History{Generations: h.Generations}.concurrent(g))
	}
	return n
}
