package serving_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A guarantee is one of those in docs/serving.md.
type guarantee string

const (
	endsOnce       guarantee = "an accepted request ends in exactly one state"
	oneGeneration  guarantee = "a client sees text of one generation, whole or with an error at its end"
	nothingLost    guarantee = "no accepted request is lost"
	stopsComputing guarantee = "what nobody wants any more is not computed"
	nothingRead    guarantee = "no tenant reads what is another's"
	nobodyStarves  guarantee = "no tenant starves another"
	withinSlots    guarantee = "an engine computes no more requests at the same time than it has slots"
	wholeModels    guarantee = "a model that is ready has the bytes of its manifest"
)

func guarantees() []guarantee {
	return []guarantee{endsOnce, oneGeneration, nothingLost, stopsComputing, nothingRead, nobodyStarves, withinSlots, wholeModels}
}

// A report is what the check of a history has come to.
type report struct {
	examined   map[guarantee]int // on how many things each was tried
	violations []violation
}

type violation struct {
	of      guarantee
	request string // the gateway's id; "" if it is of none
	what    string
}

func (v violation) String() string { return fmt.Sprintf("%s: %s", v.of, v.what) }

// examine notes that a guarantee was tried on one thing more.
func (r *report) examine(g guarantee) { r.examined[g]++ }

// violated notes a violation.
func (r *report) violated(g guarantee, format string, args ...any) {
	r.violations = append(r.violations, violation{of: g, what: fmt.Sprintf(format, args...)})
}

// violatedBy notes a violation by what came of a request.
func (r *report) violatedBy(e entry, g guarantee, format string, args ...any) {
	what := fmt.Sprintf("%s (%s, %s, %d %q, %v from %s): ", e.wish.ID, e.id, e.verdict, e.status, e.code,
		e.ended.Sub(e.invoked).Round(time.Millisecond), e.invoked.Format(time.RFC3339Nano))
	r.violations = append(r.violations, violation{of: g, request: e.id, what: what + fmt.Sprintf(format, args...)})
}

// String is a line for each guarantee that was tried.
func (r *report) String() string {
	broken := map[guarantee]int{}
	for _, v := range r.violations {
		broken[v.of]++
	}
	var b strings.Builder
	for _, g := range guarantees() {
		if r.examined[g] > 0 || broken[g] > 0 {
			fmt.Fprintf(&b, "%5d tried, %d violations: %s\n", r.examined[g], broken[g], g)
		}
	}
	return b.String()
}

// judge checks a history and fails the test for each violation, and for each
// guarantee that it was to try and has not.
func (h history) judge(t *testing.T, tried ...guarantee) {
	t.Helper()
	r := h.check()
	t.Logf("\n%s", r)
	for _, v := range r.violations {
		t.Error(v)
		if v.request != "" && h.mentions != nil {
			t.Logf("of %s was logged:\n%s", v.request, h.mentions(v.request))
		}
	}
	for _, g := range tried {
		if r.examined[g] == 0 {
			t.Errorf("nothing was seen that could tell: %s", g)
		}
	}
}
