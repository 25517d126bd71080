package queue_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/serving/queue"
)

func TestParsePriority(t *testing.T) {
	for name, want := range map[string]queue.Priority{"": queue.PriorityNormal, "low": queue.PriorityLow, "normal": queue.PriorityNormal, "high": queue.PriorityHigh} {
		if got, ok := queue.ParsePriority(name); !ok || got != want {
			t.Errorf("ParsePriority(%q) = %q, %v, want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"urgent", "HIGH", "1"} {
		if got, ok := queue.ParsePriority(name); ok || got != queue.PriorityNormal {
			t.Errorf("ParsePriority(%q) = %q, %v, want it refused", name, got, ok)
		}
	}
}

func TestPriorityAtMost(t *testing.T) {
	cases := []struct{ wish, most, want queue.Priority }{
		{queue.PriorityHigh, queue.PriorityNormal, queue.PriorityNormal},
		{queue.PriorityHigh, queue.PriorityHigh, queue.PriorityHigh},
		{queue.PriorityLow, queue.PriorityHigh, queue.PriorityLow},
		{queue.PriorityNormal, queue.PriorityLow, queue.PriorityLow},
		{"", queue.PriorityLow, queue.PriorityLow},
		{"", queue.PriorityHigh, ""},
	}
	for _, c := range cases {
		if got := c.wish.AtMost(c.most); got != c.want {
			t.Errorf("%q.AtMost(%q) = %q, want %q", c.wish, c.most, got, c.want)
		}
	}
}
