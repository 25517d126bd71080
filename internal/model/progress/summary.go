package progress

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Stages of work that others ask for.
const (
	Fetch   = "fetch"   // of files
	Convert = "convert" // of weights
	Load    = "load"    // of weights into an engine
)

// Path is where a process answers with its Summary.
const Path = "/progress"

// A Summary is what a process tells others about its work while it runs. Percent is 0
// to 100. Bytes and Total are 0 if the work is not counted in bytes, and ETASeconds is 0
// while the time that the rest takes is not known.
type Summary struct {
	Stage      string `json:"stage,omitempty"`
	Bytes      int64  `json:"bytes,omitempty"`
	Total      int64  `json:"total,omitempty"`
	Percent    int    `json:"percent,omitempty"`
	ETASeconds int64  `json:"etaSeconds,omitempty"`
}

// Summary returns the summary of a report. ok is false unless the work runs and its size
// is known.
func (r Report) Summary() (s Summary, ok bool) {
	if r.Phase != Running || r.Total <= 0 {
		return Summary{}, false
	}
	return Summary{Stage: r.Stage, Bytes: min(max(r.Bytes, 0), r.Total), Total: r.Total, Percent: r.Percent(), ETASeconds: seconds(r.ETA())}, true
}

// Valid reports whether the summary of another process can be true.
func (s Summary) Valid() bool {
	switch s.Stage {
	case Fetch, Convert, Load:
		return s.Bytes >= 0 && s.Bytes <= s.Total && s.Percent >= 0 && s.Percent <= 100 && s.ETASeconds >= 0
	}
	return false
}

// String returns "fetch 42%".
func (s Summary) String() string {
	if s.Stage == "" {
		return ""
	}
	return fmt.Sprintf("%s %d%%", s.Stage, s.Percent)
}

// ETA returns the time that the rest takes as Left writes it.
func (s Summary) ETA() string { return Left(time.Duration(s.ETASeconds) * time.Second) }

// Handler answers GET Path with the summary of the present work, and with 204 while there
// is none.
func Handler(present func() (s Summary, ok bool)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		s, ok := present()
		if !ok {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s)
	})
}

// Left returns a duration in steps that are right for an estimate: "40s", "12m",
// "3h20m". It is empty for none.
func Left(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < 100*time.Second:
		return fmt.Sprintf("%ds", int(max(d.Round(10*time.Second), 10*time.Second).Seconds()))
	case d < 100*time.Minute:
		return fmt.Sprintf("%dm", int(d.Round(time.Minute).Minutes()))
	}
	minutes := int(d.Round(10 * time.Minute).Minutes())
	return fmt.Sprintf("%dh%02dm", minutes/60, minutes%60)
}
