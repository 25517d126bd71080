package progress_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/model/progress"
)

func TestReport(t *testing.T) {
	cases := map[string]struct {
		report  progress.Report
		percent int
		eta     time.Duration
	}{
		"Unknown":  {progress.Report{Phase: progress.Running, Bytes: 5}, 0, 0},
		"Half":     {progress.Report{Phase: progress.Running, Bytes: 50, Total: 100, BytesPerSecond: 5}, 50, 10 * time.Second},
		"NoRate":   {progress.Report{Phase: progress.Running, Bytes: 50, Total: 100}, 50, 0},
		"TooMuch":  {progress.Report{Phase: progress.Running, Bytes: 150, Total: 100, BytesPerSecond: 5}, 100, 0},
		"Finished": {progress.Report{Phase: progress.Done, Bytes: 100, Total: 100, BytesPerSecond: 5}, 100, 0},
		"Failed":   {progress.Report{Phase: progress.Failed, Bytes: 50, Total: 100, BytesPerSecond: 5}, 50, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.report.Percent(); got != c.percent {
				t.Errorf("Percent() = %d, want %d", got, c.percent)
			}
			if got := c.report.ETA(); got != c.eta {
				t.Errorf("ETA() = %s, want %s", got, c.eta)
			}
			raw, err := json.Marshal(c.report)
			if err != nil {
				t.Fatal(err)
			}
			var back progress.Report
			var derived struct {
				Percent    int   `json:"percent"`
				ETASeconds int64 `json:"etaSeconds"`
			}
			if err := json.Unmarshal(raw, &back); err != nil || back != c.report {
				t.Errorf("%s reads back as %+v, %v", raw, back, err)
			}
			if err := json.Unmarshal(raw, &derived); err != nil || derived.Percent != c.percent || derived.ETASeconds != int64(c.eta/time.Second) {
				t.Errorf("%s says %+v, %v", raw, derived, err)
			}
		})
	}
}
