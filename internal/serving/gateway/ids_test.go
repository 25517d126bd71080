package gateway

import (
	"testing"
	"time"
)

func TestNewID(t *testing.T) {
	now := time.Now()
	seen := map[string]bool{}
	for range 1000 {
		id := newID(now)
		if len(id) != 26 || seen[id] {
			t.Fatalf("id = %q", id)
		}
		seen[id] = true
	}
	if a, b := newID(now), newID(now.Add(time.Millisecond)); a >= b {
		t.Errorf("%q does not sort before %q", a, b)
	}
}
