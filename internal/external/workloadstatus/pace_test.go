package workloadstatus

import (
	"slices"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/model/progress"
)

func at(pod, stage string, percent int) PodProgress {
	return PodProgress{pod, progress.Summary{Stage: stage, Percent: percent}}
}

// Beginnings and quarters are reported soon, other numbers later, and nothing twice.
func TestPace(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := pacer{}
	for _, c := range []struct {
		at      time.Duration
		now     []PodProgress
		changed bool
		again   time.Duration
	}{
		{0, nil, false, 0},
		{5 * time.Second, []PodProgress{at("a", "fetch", 1)}, true, 0},
		{6 * time.Second, []PodProgress{at("a", "fetch", 1)}, false, 0},
		{8 * time.Second, []PodProgress{at("a", "fetch", 24)}, false, 27 * time.Second},
		{10 * time.Second, []PodProgress{at("a", "fetch", 25)}, false, 5 * time.Second},
		{15 * time.Second, []PodProgress{at("a", "fetch", 30)}, true, 0},
		{25 * time.Second, []PodProgress{at("a", "fetch", 49)}, false, 20 * time.Second},
		{45 * time.Second, []PodProgress{at("a", "fetch", 49)}, true, 0},
		{56 * time.Second, []PodProgress{at("a", "load", 2)}, true, 0},                      // another stage
		{66 * time.Second, []PodProgress{at("a", "load", 2), at("b", "fetch", 0)}, true, 0}, // another pod
		{76 * time.Second, []PodProgress{at("b", "fetch", 0)}, false, 20 * time.Second},     // the end is seen elsewhere
		{96 * time.Second, nil, true, 0},
	} {
		changed, again := p.settle(start.Add(c.at), c.now)
		if changed != c.changed || again != c.again {
			t.Errorf("after %s with %+v: changed %t, again %s; want %t, %s", c.at, c.now, changed, again, c.changed, c.again)
		}
	}
}

func TestShortWorkIsNotReported(t *testing.T) {
	before := []PodProgress{at("a", "fetch", 10), at("b", "fetch", 90)}
	now := []PodProgress{at("a", "fetch", 20), at("b", "load", 0), at("c", "fetch", 50)}
	if got, want := lasting(before, now), now[:1]; !slices.Equal(got, want) {
		t.Errorf("lasting: %+v, want %+v", got, want)
	}
}
