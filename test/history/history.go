package history

import (
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// A Verdict is the result of a request as its client sees it.
type Verdict string

// The verdicts.
const (
	OK           Verdict = "ok"           // complete answer
	fail         Verdict = "fail"         // error, before or after a part of the answer
	Broken       Verdict = "broken"       // the connection broke: the result is unknown
	Disconnected Verdict = "disconnected" // the client disconnected
	silent       Verdict = "silent"       // incomplete answer that ended without an error
)

// An Entry is one request in the history.
type Entry struct {
	Prompt   Prompt
	Tenant   Tenant
	Invoked  time.Time
	Ended    time.Time
	Status   int    // HTTP status; 0 if none arrived
	ID       string // request id from the gateway; "" if none arrived
	text     string // all received text
	Received []byte // all bytes of the answer, including headers
	Verdict  Verdict
	Code     string // of the received error
}

// A Probe is an attempt of one tenant to read data of another.
type Probe struct {
	By, Of     Tenant
	What       string // method and path
	MustRefuse bool   // whether the path names an object of the other tenant
	Secret     string // text of the other tenant that must not be in the answer
	Status     int    // 0 if there was no answer
	Received   []byte // all bytes of the answer, including headers
}

// A Backlog is a set of requests of several tenants that were all queued for one
// engine before the first of them started.
type Backlog struct {
	Prompts map[string]Tenant // by prompt id
}

// A ModelState is the content of a model's folder at one moment.
type ModelState struct {
	When   string
	Ready  bool              // there is a manifest
	Wrong  error             // the stored bytes differ from the manifest
	Files  map[string]string // SHA-256 of each file in the manifest
	Wanted map[string]string // SHA-256 of the correct files
	Last   bool              // whether the job that writes it has succeeded
}

// A Span is the duration of a fault.
type Span struct{ From, To time.Time }

// touches reports whether a request was in flight during the span, extended on both
// sides.
func (s Span) touches(e Entry, before, after time.Duration) bool {
	return s.From.Add(-before).Before(e.Ended) && s.To.Add(after).After(e.Invoked)
}

// A History is the record of clients, engines and the outcome stream.
type History struct {
	Entries     []Entry
	Probes      []Probe
	Backlogs    []Backlog
	Models      []ModelState
	Outcomes    map[string][]queue.Outcome // by request id, in order
	Generations []Generation               // in order, grouped by engine
	Queued      uint64                     // requests that remain in the stream
	Slots       int                        // of each engine; 0: unknown
	// faults are all faults, gateways those of a gateway. Only the latter may break
	// connections of clients.
	Faults, Gateways []Span
	// logLines returns the log lines of a request; nil if there are no logs.
	LogLines func(id string) string
}

// undisturbed reports whether there was no fault from shortly before the request
// until long after it.
func (h History) undisturbed(e Entry) bool {
	return !slices.ContainsFunc(h.Faults, func(s Span) bool { return s.touches(e, 30*time.Second, 5*time.Second) })
}

// gatewayDisturbed reports whether there was a fault of a gateway during the
// request.
func (h History) gatewayDisturbed(e Entry) bool {
	return slices.ContainsFunc(h.Gateways, func(s Span) bool { return s.touches(e, time.Second, time.Second) })
}

// Disturb injects a fault and records its duration. gateway says whether it may
// break connections of clients.
func (h *History) Disturb(gateway bool, do func()) {
	s := Span{From: time.Now()}
	do()
	s.To = time.Now()
	h.Faults = append(h.Faults, s)
	if gateway {
		h.Gateways = append(h.Gateways, s)
	}
}
