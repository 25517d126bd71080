package serving_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/bus"
)

// The checker must find each kind of violation, or its silence means nothing.
func TestChecker(t *testing.T) {
	now := time.Now()
	text := func(id, nonce string, numbers ...int) string {
		var b strings.Builder
		for _, i := range numbers {
			b.WriteString(piece(id, nonce, i))
		}
		return b.String()
	}
	good := func() (history, *entry) {
		h := history{
			entries: []entry{{
				wish: wish{ID: "a", N: 3}, invoked: now, ended: now.Add(time.Second), status: 200, id: "req_1",
				text: text("a", "g1", 0, 1, 2), verdict: ok,
			}},
			outcomes:    map[string][]bus.Outcome{"req_1": {{State: bus.Completed}}},
			generations: []generation{{ID: "a", Nonce: "g1", Pieces: 3}},
		}
		return h, &h.entries[0]
	}
	cases := map[string]struct {
		spoil func(h *history, e *entry)
		want  string // "" if it is no violation
	}{
		"Good":          {func(*history, *entry) {}, ""},
		"Lost":          {func(h *history, _ *entry) { h.outcomes = nil }, "has no outcome"},
		"EndsTwice":     {func(h *history, _ *entry) { h.outcomes["req_1"] = append(h.outcomes["req_1"], bus.Outcome{}) }, "ended 2 times"},
		"Queued":        {func(h *history, _ *entry) { h.queued = 1 }, "still queued"},
		"Gap":           {func(_ *history, e *entry) { e.text = text("a", "g1", 0, 2) }, "comes where 1 is due"},
		"Repeat":        {func(_ *history, e *entry) { e.text = text("a", "g1", 0, 0, 1, 2) }, "comes where 1 is due"},
		"Mixed":         {func(_ *history, e *entry) { e.text = text("a", "g1", 0) + text("a", "g2", 1, 2) }, "is not of generation g1"},
		"Stranger":      {func(_ *history, e *entry) { e.text = text("b", "g1", 0) }, "another request's"},
		"Rubbish":       {func(_ *history, e *entry) { e.text = "hello" }, "of no generation"},
		"Cut":           {func(_ *history, e *entry) { e.text = text("a", "g1", 0, 1) }, "with 2 pieces of 3"},
		"Silent":        {func(_ *history, e *entry) { e.text, e.verdict = text("a", "g1", 0), silent }, "without a word"},
		"Invented":      {func(h *history, _ *entry) { h.generations = nil }, "no engine has generated"},
		"OkButFailed":   {func(h *history, _ *entry) { h.outcomes["req_1"][0].State = bus.Failed }, `the outcome is "failed"`},
		"FailButOk":     {func(_ *history, e *entry) { e.verdict, e.code = fail, bus.CodeEngineFailed }, "the outcome is completed"},
		"Interrupted":   {func(_ *history, e *entry) { e.verdict, e.code = fail, bus.CodeInterrupted }, ""},
		"Broken":        {func(_ *history, e *entry) { e.verdict = info }, "though no gateway was touched"},
		"BrokenByFault": {func(h *history, e *entry) { e.verdict, h.faults = info, []time.Time{now} }, ""},
		"Refused":       {func(h *history, e *entry) { e.verdict, e.status, e.text, h.outcomes = fail, 503, "", nil }, ""},
		"ClientLeft":    {func(h *history, e *entry) { e.verdict = left; h.outcomes["req_1"][0].State = bus.Cancelled }, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h, e := good()
			c.spoil(&h, e)
			got := strings.Join(h.check(), "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
