package dispatch

import (
	"fmt"
	"testing"
	"time"
)

func TestRecentIDs(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := newRecentIDs(3)
	for i := range 5 {
		m.add(fmt.Sprint(i), start.Add(time.Duration(i)*time.Second))
		m.add(fmt.Sprint(i), start.Add(time.Hour)) // known already
	}
	for id, want := range map[string]bool{"0": false, "1": false, "2": true, "4": true, "x": false} {
		if got := m.has(id); got != want {
			t.Errorf("has(%s) = %v, want %v", id, got, want)
		}
	}
	m.forget(start.Add(4 * time.Second))
	if m.has("3") || !m.has("4") {
		t.Error("forget does not go by age")
	}
	if len(m.at) != len(m.order) {
		t.Errorf("%d times of %d ids", len(m.at), len(m.order))
	}
}
