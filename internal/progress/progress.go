// Package progress is the vocabulary in which long work tells how far it is.
package progress

// A Phase is one step of the life of a piece of work.
type Phase string

// The phases, in order. Failed and Done are final.
const (
	Running Phase = "Running"
	Done    Phase = "Done"
	Failed  Phase = "Failed"
)

// A Report is the state of one piece of work (one fetch, one conversion) at
// one moment. Reports of a piece of work never go back: Bytes only grows,
// except that a restarted process begins again with what it found done.
type Report struct {
	Stage          string `json:"stage"`                    // "fetch" or "convert"
	Phase          Phase  `json:"phase"`                    //
	Item           string `json:"item,omitempty"`           // the file or tensor at work
	Bytes          int64  `json:"bytes"`                    // bytes done
	Total          int64  `json:"total"`                    // bytes in all, 0 while not known
	BytesPerSecond int64  `json:"bytesPerSecond,omitempty"` // over the last seconds
	Message        string `json:"message,omitempty"`        // the error, when Failed
	Kind           string `json:"kind,omitempty"`           // the fault kind of the error, when Failed
}

// Percent is the share done, 0 to 100; 0 while the total is not known.
func (r Report) Percent() int {
	if r.Total <= 0 {
		return 0
	}
	return int(min(r.Bytes, r.Total) * 100 / r.Total)
}

// A Func receives reports. It must not block, and may be called from any
// goroutine, but never from two at once.
type Func func(Report)
