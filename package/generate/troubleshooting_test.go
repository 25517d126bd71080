package main

import (
	"testing"

	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/external/workloadstatus/diagnose"
)

// The functions repeat the reasons of diagnoses: each is one of their own, and is final
// for both or for none.
func TestCausesAreReasonsOfPods(t *testing.T) {
	for _, c := range diagnose.Causes() {
		if !reason.Passed(c.Reason) {
			t.Errorf("functions/reason does not know reason %q of pods", c.Reason)
		}
		if reason.Final(c.Reason) != c.Final {
			t.Errorf("reason %q: functions/reason says final %t, the diagnosis %t", c.Reason, !c.Final, c.Final)
		}
	}
}
