package bus_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/bus"
)

func TestParsePriority(t *testing.T) {
	for name, want := range map[string]bus.Priority{"": bus.PriorityNormal, "low": bus.PriorityLow, "normal": bus.PriorityNormal, "high": bus.PriorityHigh} {
		if got, ok := bus.ParsePriority(name); !ok || got != want {
			t.Errorf("ParsePriority(%q) = %q, %v, want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"urgent", "HIGH", "1"} {
		if got, ok := bus.ParsePriority(name); ok || got != bus.PriorityNormal {
			t.Errorf("ParsePriority(%q) = %q, %v, want it refused", name, got, ok)
		}
	}
}

func TestPriorityAtMost(t *testing.T) {
	cases := []struct{ wish, most, want bus.Priority }{
		{bus.PriorityHigh, bus.PriorityNormal, bus.PriorityNormal},
		{bus.PriorityHigh, bus.PriorityHigh, bus.PriorityHigh},
		{bus.PriorityLow, bus.PriorityHigh, bus.PriorityLow},
		{bus.PriorityNormal, bus.PriorityLow, bus.PriorityLow},
		{"", bus.PriorityLow, bus.PriorityLow},
		{"", bus.PriorityHigh, ""},
	}
	for _, c := range cases {
		if got := c.wish.AtMost(c.most); got != c.want {
			t.Errorf("%q.AtMost(%q) = %q, want %q", c.wish, c.most, got, c.want)
		}
	}
}
