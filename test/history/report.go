package history

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A guarantee is one of the guarantees in docs/background/guarantees.md.
type guarantee string

// The guarantees.
const (
	EndsOnce        guarantee = "an accepted request ends in exactly one state"
	OneGeneration   guarantee = "a client receives text of one generation, complete or with an error at its end"
	NothingLost     guarantee = "no accepted request is lost"
	StopsComputing  guarantee = "requests of disconnected clients are not computed"
	TenantsIsolated guarantee = "no tenant can read data of another"
	NoStarvation    guarantee = "no tenant starves another"
	withinSlots     guarantee = "an engine computes no more requests at the same time than it has slots"
	WholeModels     guarantee = "a ready model has the bytes of its manifest"
)

func guarantees() []guarantee {
	return []guarantee{EndsOnce, OneGeneration, NothingLost, StopsComputing, TenantsIsolated, NoStarvation, withinSlots, WholeModels}
}

// A report is the result of checking a history.
type report struct {
	examined   map[guarantee]int // number of checks of each
	violations []violation
}

type violation struct {
	of      guarantee
	request string // the request id; "" if it concerns no request
	what    string
}

func (v violation) String() string { return fmt.Sprintf("%s: %s", v.of, v.what) }

// examine counts one check of a guarantee.
func (r *report) examine(g guarantee) { r.examined[g]++ }

// violated records a violation.
func (r *report) violated(g guarantee, format string, args ...any) {
	r.violations = append(r.violations, violation{of: g, what: fmt.Sprintf(format, args...)})
}

// violatedBy records a violation by the response to a request.
func (r *report) violatedBy(e Entry, g guarantee, format string, args ...any) {
	what := fmt.Sprintf("%s (%s, %s, %d %q, %v from %s): ", e.Prompt.ID, e.ID, e.Verdict, e.Status, e.Code,
		e.Ended.Sub(e.Invoked).Round(time.Millisecond), e.Invoked.Format(time.RFC3339Nano))
	r.violations = append(r.violations, violation{of: g, request: e.ID, what: what + fmt.Sprintf(format, args...)})
}

// String returns a line for each guarantee that was checked.
func (r *report) String() string {
	broken := map[guarantee]int{}
	for _, v := range r.violations {
		broken[v.of]++
	}
	var b strings.Builder
	for _, g := range guarantees() {
		if r.examined[g] > 0 || broken[g] > 0 {
			fmt.Fprintf(&b, "%5d checks, %d violations: %s\n", r.examined[g], broken[g], g)
		}
	}
	return b.String()
}

// Verify checks the history and fails the test for each violation, and for each of
// the given guarantees that was never checked.
func (h History) Verify(t *testing.T, required ...guarantee) {
	t.Helper()
	r := h.check()
	t.Logf("\n%s", r)
	for _, v := range r.violations {
		t.Error(v)
		if v.request != "" && h.LogLines != nil {
			t.Logf("log lines of %s:\n%s", v.request, h.LogLines(v.request))
		}
	}
	for _, g := range required {
		if r.examined[g] == 0 {
			t.Errorf("no event of the history could violate the guarantee: %s", g)
		}
	}
}
