package serving_test

import (
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/queue"
)

// A verdict is what a client knows of its request in the end.
type verdict string

const (
	ok     verdict = "ok"     // it was answered whole
	fail   verdict = "fail"   // it was told that there is no (whole) answer
	info   verdict = "info"   // its connection broke: it cannot know
	left   verdict = "left"   // it went away itself
	silent verdict = "silent" // the answer ended properly, without a word that it was not whole
)

// An entry is one request in the history, from its invocation to its end.
type entry struct {
	wish    wish
	tenant  tenant
	invoked time.Time
	ended   time.Time
	status  int    // HTTP status; 0 if none came
	id      string // that the gateway gave it; "" if none came
	text    string // every byte of text that came
	heard   []byte // every byte of the answer, its headers included
	verdict verdict
	code    string // of the error that it was told
}

// A probe is an attempt of a tenant to read what is another's.
type probe struct {
	by, of tenant
	what   string // method and path
	theirs bool   // it asks for a thing of the other's, and so is to be refused
	secret string // of the other's, which must not be in the answer
	status int    // 0 if there was no answer
	heard  []byte // every byte of the answer, its headers included
}

// A contest is requests of several tenants that all waited, with one engine
// for all of them, when the first was chosen.
type contest struct {
	wishes map[string]tenant // by the wish's id
}

// A modelState is what stood at the place of a model at one moment.
type modelState struct {
	when   string
	ready  bool              // there is a manifest
	wrong  error             // the stored bytes are not what the manifest says
	files  map[string]string // SHA-256 of each, by the manifest
	wanted map[string]string // the same of the right files
	last   bool              // whoever makes it has ended well
}

// A span is a time in which something was disturbed.
type span struct{ from, to time.Time }

// touches reports whether a request was under way within the span, made longer
// on both sides.
func (s span) touches(e entry, before, after time.Duration) bool {
	return s.from.Add(-before).Before(e.ended) && s.to.Add(after).After(e.invoked)
}

// A history is what clients, engines and the outcome stream have recorded.
type history struct {
	entries     []entry
	probes      []probe
	contests    []contest
	models      []modelState
	outcomes    map[string][]queue.Outcome // by the gateway's id, in order
	generations []generation               // in order, engine after engine
	queued      uint64                     // requests left in the stream
	slots       int                        // of each engine; 0: not known
	// faults are when something was done to anything, gateways when it was done
	// to a gateway, which cuts its clients' connections: no others may break.
	faults, gateways []span
	// mentions is what was logged of a request; nil if there are no logs.
	mentions func(id string) string
}

// calm reports whether nothing was disturbed from a moment before the request
// until long after.
func (h history) calm(e entry) bool {
	return !slices.ContainsFunc(h.faults, func(s span) bool { return s.touches(e, 30*time.Second, 5*time.Second) })
}

// cutOff reports whether something was done to a gateway during the request.
func (h history) cutOff(e entry) bool {
	return slices.ContainsFunc(h.gateways, func(s span) bool { return s.touches(e, time.Second, time.Second) })
}
