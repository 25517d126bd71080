package workloadstatus

import (
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/external/workloadstatus/diagnose"
)

// A problem is reported when it has lasted, and so is its end; what comes and goes is
// not.
func TestSettle(t *testing.T) {
	none, oom, pull := diagnose.Diagnosis{}, diagnose.Diagnosis{Reason: "OutOfMemory"}, diagnose.Diagnosis{Reason: "ImageUnavailable"}
	text := func(message string) diagnose.Diagnosis {
		return diagnose.Diagnosis{Reason: "VolumeUnavailable", Message: message}
	}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := settler{}
	for _, c := range []struct {
		at      time.Duration
		now     diagnose.Diagnosis
		changed bool
		again   time.Duration
		report  diagnose.Diagnosis
	}{
		{0, none, false, 0, none},
		{1 * time.Second, oom, false, lasts, none},
		{2 * time.Second, none, false, 0, none}, // it was transient
		{3 * time.Second, oom, false, lasts, none},
		{5 * time.Second, oom, false, 1 * time.Second, none},
		{6 * time.Second, oom, true, 0, oom},
		{7 * time.Second, oom, false, 0, oom},
		{8 * time.Second, pull, false, lasts, oom},
		{9 * time.Second, none, false, lasts, oom}, // another change begins anew
		{12 * time.Second, none, true, 0, none},
		{13 * time.Second, text("a"), false, lasts, none},
		{14 * time.Second, text("b"), false, 2 * time.Second, none}, // the reason lasts
		{16 * time.Second, text("c"), true, 0, text("c")},
		{20 * time.Second, text("d"), false, 56 * time.Second, text("c")}, // texts may change with each retry
		{30 * time.Second, text("e"), false, 46 * time.Second, text("c")},
		{40 * time.Second, text("c"), false, 0, text("c")},
		{75 * time.Second, text("f"), false, lasts, text("c")},
		{78 * time.Second, text("f"), true, 0, text("f")},
		{79 * time.Second, none, false, lasts, text("f")},
		{82 * time.Second, none, true, 0, none}, // another reason is told at once
	} {
		changed, again := s.settle(start.Add(c.at), c.now)
		if changed != c.changed || again != c.again || s.reported != c.report {
			t.Errorf("after %s: changed %t, again %s, reported %+v; want %t, %s, %+v", c.at, changed, again, s.reported, c.changed, c.again, c.report)
		}
	}
}
