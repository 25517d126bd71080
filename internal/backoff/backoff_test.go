package backoff_test

import (
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/backoff"
)

func TestAfter(t *testing.T) {
	at := func(random float64) backoff.Policy {
		return backoff.Policy{First: 100 * time.Millisecond, Most: 2 * time.Second, Rand: func() float64 { return random }}
	}
	for n, want := range map[int]time.Duration{ // in full; half of it is random
		0: 100 * time.Millisecond, 1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 3: 400 * time.Millisecond,
		5: 1600 * time.Millisecond, 6: 2 * time.Second, 7: 2 * time.Second, 1000: 2 * time.Second,
	} {
		if low, high := at(0).After(n), at(1).After(n); low != want/2 || high != want {
			t.Errorf("After(%d) is %s to %s, want %s to %s", n, low, high, want/2, want)
		}
	}
}

func TestAfterIsRandom(t *testing.T) {
	p := backoff.Policy{First: time.Hour, Most: time.Hour}
	seen := map[time.Duration]bool{}
	for range 100 {
		d := p.After(1)
		if d < time.Hour/2 || d > time.Hour {
			t.Fatalf("After(1) = %s, want 30m to 1h", d)
		}
		seen[d] = true
	}
	if len(seen) < 2 {
		t.Error("After(1) is not random")
	}
}
