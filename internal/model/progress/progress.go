// Package progress defines the reports of long work about its progress.
package progress

import (
	"encoding/json"
	"time"

	"github.com/gorizond/koldun/internal/model/topology"
)

// A Phase is one step of a piece of work.
type Phase string

// The phases, in order. Failed and Done are final.
const (
	Running Phase = "Running"
	Done    Phase = "Done"
	Failed  Phase = "Failed"
)

// A Report is the state of one piece of work (one fetch, one conversion) at
// one moment. Bytes never decreases, except that a restarted process begins with
// what the previous one has done.
type Report struct {
	Stage          string `json:"stage"`                    // Fetch or Convert
	Phase          Phase  `json:"phase"`                    //
	Item           string `json:"item,omitempty"`           // the file or tensor at work
	Bytes          int64  `json:"bytes"`                    // bytes done
	Total          int64  `json:"total"`                    // bytes in all, 0 while not known
	BytesPerSecond int64  `json:"bytesPerSecond,omitempty"` // over the last seconds
	Message        string `json:"message,omitempty"`        // the error, when Failed; when Running, the one after which the work tries again, if it does
	Kind           string `json:"kind,omitempty"`           // the fault kind of the error, when Failed
	// Shape is the model's header, when a conversion is Done.
	Shape *topology.Shape `json:"shape,omitempty"`
}

// MarshalJSON adds the derived fields "percent", and "etaSeconds" while there is a
// rate.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	return json.Marshal(struct {
		plain
		Percent    int   `json:"percent"`
		ETASeconds int64 `json:"etaSeconds,omitempty"`
	}{plain(r), r.Percent(), seconds(r.ETA())})
}

func seconds(d time.Duration) int64 { return int64(d.Round(time.Second) / time.Second) }

// ETA returns the time that the rest takes at the present rate; 0 while that is not
// known, and when nothing is left.
func (r Report) ETA() time.Duration {
	if r.BytesPerSecond <= 0 || r.Total <= r.Bytes || r.Phase != Running {
		return 0
	}
	return time.Duration(float64(r.Total-r.Bytes) / float64(r.BytesPerSecond) * float64(time.Second))
}

// Percent returns the share that is done, 0 to 100; 0 while the total is not known.
func (r Report) Percent() int {
	if r.Total <= 0 {
		return 0
	}
	return int(min(r.Bytes, r.Total) * 100 / r.Total)
}

// A Func receives reports. It must not block. It is called from any goroutine, but
// never concurrently.
type Func func(Report)
