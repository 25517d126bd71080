package progress_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/model/progress"
)

func TestSummary(t *testing.T) {
	for name, c := range map[string]struct {
		report progress.Report
		want   progress.Summary
		ok     bool
	}{
		"Running": {
			progress.Report{Stage: progress.Fetch, Phase: progress.Running, Bytes: 50, Total: 200, BytesPerSecond: 5},
			progress.Summary{Stage: progress.Fetch, Bytes: 50, Total: 200, Percent: 25, ETASeconds: 30}, true,
		},
		"TooMuch":    {progress.Report{Stage: progress.Fetch, Phase: progress.Running, Bytes: 5, Total: 2}, progress.Summary{Stage: progress.Fetch, Bytes: 2, Total: 2, Percent: 100}, true},
		"SizeToCome": {progress.Report{Stage: progress.Fetch, Phase: progress.Running, Bytes: 5}, progress.Summary{}, false},
		"Done":       {progress.Report{Stage: progress.Fetch, Phase: progress.Done, Bytes: 5, Total: 5}, progress.Summary{}, false},
		"Nothing":    {progress.Report{}, progress.Summary{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := c.report.Summary()
			if got != c.want || ok != c.ok {
				t.Errorf("Summary() = %+v, %t, want %+v, %t", got, ok, c.want, c.ok)
			}
			if got.Valid() != c.ok {
				t.Errorf("%+v is valid: %t, want %t", got, got.Valid(), c.ok)
			}
			w := httptest.NewRecorder()
			progress.Handler(c.report.Summary).ServeHTTP(w, httptest.NewRequest(http.MethodGet, progress.Path, nil))
			var back progress.Summary
			if c.ok && json.Unmarshal(w.Body.Bytes(), &back) != nil || back != c.want || (w.Code == http.StatusOK) != c.ok {
				t.Errorf("answered %d %q, want %+v", w.Code, w.Body, c.want)
			}
		})
	}
}

func TestInvalidSummaries(t *testing.T) {
	for name, s := range map[string]progress.Summary{
		"Stage":   {Stage: "rm -rf", Percent: 1},
		"Bytes":   {Stage: progress.Load, Bytes: 2, Total: 1},
		"Below":   {Stage: progress.Load, Bytes: -2, Total: -1},
		"Percent": {Stage: progress.Load, Percent: 101},
		"Minus":   {Stage: progress.Load, Percent: -1},
		"ETA":     {Stage: progress.Load, ETASeconds: -1},
	} {
		if s.Valid() {
			t.Errorf("%s: %+v is valid", name, s)
		}
	}
}

func TestText(t *testing.T) {
	s := progress.Summary{Stage: progress.Fetch, Percent: 42, ETASeconds: 200}
	if got := s.String() + " " + s.ETA(); got != "fetch 42% 3m" {
		t.Errorf("text is %q", got)
	}
	if got := (progress.Summary{}).String(); got != "" {
		t.Errorf("text of nothing is %q", got)
	}
	for d, want := range map[time.Duration]string{
		-time.Second:                    "",
		0:                               "",
		time.Second:                     "10s",
		44 * time.Second:                "40s",
		99 * time.Second:                "100s",
		100 * time.Second:               "2m",
		99*time.Minute + 29*time.Second: "99m",
		100 * time.Minute:               "1h40m",
		3*time.Hour + 4*time.Minute:     "3h00m",
		3*time.Hour + 5*time.Minute:     "3h10m",
	} {
		if got := progress.Left(d); got != want {
			t.Errorf("Left(%s) = %q, want %q", d, got, want)
		}
	}
}
