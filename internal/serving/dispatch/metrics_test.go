package dispatch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// Each terminal record counts once, with its tokens and durations.
func TestMetricsOfOutcomes(t *testing.T) {
	m := newMetrics()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m.ended(queue.Outcome{
		State: queue.Completed, Created: at, Started: at.Add(time.Second), First: at.Add(2 * time.Second), Ended: at.Add(4 * time.Second),
		Usage: queue.Usage{PromptTokens: 10, CompletionTokens: 20},
	})
	m.ended(queue.Outcome{State: queue.Failed, Group: "canary", Created: at, Ended: at})
	m.ended(queue.Outcome{State: queue.Expired, Created: at, Ended: at.Add(time.Minute)})
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, sample := range f.GetMetric() {
			name := f.GetName()
			for _, l := range sample.GetLabel() {
				name += " " + l.GetValue()
			}
			if c := sample.GetCounter(); c != nil {
				got[name] = c.GetValue()
			}
			if h := sample.GetHistogram(); h != nil {
				got[name+" count"], got[name+" sum"] = float64(h.GetSampleCount()), h.GetSampleSum()
			}
		}
	}
	if _, ok := got["koldun_group_requests_total  completed"]; ok {
		t.Error("a request of no group counts for one")
	}
	for name, want := range map[string]float64{
		"koldun_requests_total completed":           1,
		"koldun_requests_total expired":             1,
		"koldun_group_requests_total canary failed": 1,
		"koldun_tokens_total input":                 10,
		"koldun_tokens_total output":                20,
		"koldun_request_duration_seconds count":     3,
		"koldun_request_duration_seconds sum":       64,
		"koldun_time_to_first_token_seconds count":  1,
		"koldun_time_to_first_token_seconds sum":    2,
	} {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
