package pace_test

import (
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/external/pace"
)

func TestBudgetNeverExceedsCrossplanes(t *testing.T) {
	// The breaker has 50 updates and regains one per 2 s: updates that are taken
	// as early as possible must fit.
	var b pace.Budget
	now := time.Unix(1000, 0)
	breaker, at := 50.0, now
	for range 200 {
		ok, when := b.Take(pace.Change, now)
		if !ok {
			if !when.After(now) {
				t.Fatalf("Take at %v refuses and returns %v, want a later time", now, when)
			}
			now = when.Add(time.Millisecond)
			continue
		}
		breaker = min(50, breaker+now.Sub(at).Seconds()/2) - pace.Change
		at = now
		if breaker < 0 {
			t.Fatalf("the breaker opens after %v", now.Sub(time.Unix(1000, 0)))
		}
	}
	if now.Sub(time.Unix(1000, 0)) > 200*20*time.Second {
		t.Errorf("the budget is slower than necessary: %v", now)
	}
}

func TestWhatIsUsedComesBack(t *testing.T) {
	var b pace.Budget
	now := time.Unix(1000, 0)
	if ok, _ := b.Take(pace.Burst, now); !ok {
		t.Fatal("a new budget is not full")
	}
	ok, when := b.Take(1, now)
	if ok {
		t.Fatal("an exhausted budget grants an update")
	}
	if left := b.Left(1, now); !left.Equal(when) {
		t.Errorf("Left returns %v, Take returns %v, want the same", left, when)
	}
	if ok, _ := b.Take(1, when.Add(-time.Second)); ok {
		t.Error("Take succeeds before the returned time")
	}
	if ok, _ := b.Take(1, when.Add(time.Millisecond)); !ok {
		t.Error("Take refuses after the returned time")
	}
}

func TestClockThatGoesBack(t *testing.T) {
	var b pace.Budget
	now := time.Unix(1000, 0)
	b.Take(pace.Burst, now)
	if ok, _ := b.Take(1, now.Add(-time.Hour)); ok {
		t.Error("a clock that goes back adds updates")
	}
}
