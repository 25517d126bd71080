package waittest

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestSlowness(t *testing.T) {
	for took, want := range map[time.Duration]float64{0: 1, usualSample / 2: 1, usualSample: 1, 3 * usualSample: 3, time.Hour: slowest} {
		if got := slownessOf(took); got != want {
			t.Errorf("a machine whose sample takes %v is %v times slower, want %v", took, got, want)
		}
	}
}

// TestLimit compares limits inside and outside a bubble, where time stands still.
func TestLimit(t *testing.T) {
	outside := Limit(time.Minute)
	if outside < time.Minute || outside > slowest*time.Minute {
		t.Errorf("the limit for a minute is %v, want between 1 and %d minutes", outside, slowest)
	}
	synctest.Test(t, func(t *testing.T) {
		if inside := Limit(time.Minute); inside != outside {
			t.Errorf("the limit in a bubble is %v, want %v", inside, outside)
		}
	})
}
