package engineapi

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              0,
		"7":                             7 * time.Second,
		"1.5":                           1500 * time.Millisecond,
		"-3":                            0,
		"1e300":                         maxRetryAfter,
		"NaN":                           0,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute,
		"Fri, 02 Jan 2020 03:05:05 GMT": 0,
		"Fri, 02 Jan 2099 03:05:05 GMT": maxRetryAfter,
		"soon":                          0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("Retry-After %q: %s, want %s", value, got, want)
		}
	}
	if got := retryAfter(http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"250"}}, now); got != 250*time.Millisecond {
		t.Errorf("Retry-After-Ms 250: %s", got)
	}
}
