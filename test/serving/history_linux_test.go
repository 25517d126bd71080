package serving_test

import (
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/queue"
)

// A verdict is the result of a request as its client sees it.
type verdict string

const (
	ok           verdict = "ok"           // complete answer
	fail         verdict = "fail"         // error, before or after a part of the answer
	info         verdict = "info"         // the connection broke: the result is unknown
	disconnected verdict = "disconnected" // the client disconnected
	silent       verdict = "silent"       // incomplete answer that ended without an error
)

// An entry is one request in the history.
type entry struct {
	prompt   prompt
	tenant   tenant
	invoked  time.Time
	ended    time.Time
	status   int    // HTTP status; 0 if none arrived
	id       string // request id from the gateway; "" if none arrived
	text     string // all received text
	received []byte // all bytes of the answer, including headers
	verdict  verdict
	code     string // of the received error
}

// A probe is an attempt of one tenant to read data of another.
type probe struct {
	by, of     tenant
	what       string // method and path
	mustRefuse bool   // whether the path names an object of the other tenant
	secret     string // text of the other tenant that must not be in the answer
	status     int    // 0 if there was no answer
	received   []byte // all bytes of the answer, including headers
}

// A backlog is a set of requests of several tenants that were all queued for one
// engine before the first of them started.
type backlog struct {
	prompts map[string]tenant // by prompt id
}

// A modelState is the content of a model's folder at one moment.
type modelState struct {
	when   string
	ready  bool              // there is a manifest
	wrong  error             // the stored bytes differ from the manifest
	files  map[string]string // SHA-256 of each file in the manifest
	wanted map[string]string // SHA-256 of the correct files
	last   bool              // whether the job that writes it has succeeded
}

// A span is the duration of a fault.
type span struct{ from, to time.Time }

// touches reports whether a request was in flight during the span, extended on both
// sides.
func (s span) touches(e entry, before, after time.Duration) bool {
	return s.from.Add(-before).Before(e.ended) && s.to.Add(after).After(e.invoked)
}

// A history is the record of clients, engines and the outcome stream.
type history struct {
	entries     []entry
	probes      []probe
	backlogs    []backlog
	models      []modelState
	outcomes    map[string][]queue.Outcome // by request id, in order
	generations []generation               // in order, grouped by engine
	queued      uint64                     // requests that remain in the stream
	slots       int                        // of each engine; 0: unknown
	// faults are all faults, gateways those of a gateway. Only the latter may break
	// connections of clients.
	faults, gateways []span
	// logLines returns the log lines of a request; nil if there are no logs.
	logLines func(id string) string
}

// undisturbed reports whether there was no fault from shortly before the request
// until long after it.
func (h history) undisturbed(e entry) bool {
	return !slices.ContainsFunc(h.faults, func(s span) bool { return s.touches(e, 30*time.Second, 5*time.Second) })
}

// gatewayDisturbed reports whether there was a fault of a gateway during the
// request.
func (h history) gatewayDisturbed(e entry) bool {
	return slices.ContainsFunc(h.gateways, func(s span) bool { return s.touches(e, time.Second, time.Second) })
}
