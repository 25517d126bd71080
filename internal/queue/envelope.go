package queue

import (
	"encoding/json"
	"time"

	"github.com/gorizond/koldun/internal/openai"
)

// A Request is one accepted request as it lies in the request stream. It is
// published once, with Nats-Msg-Id = ID, and never changed.
type Request struct {
	ID       string        `json:"id"`                 // unique for ever: "req_" and a ULID-like word
	Session  string        `json:"session"`            // names.Session
	Tenant   string        `json:"tenant"`             // who asked: a token's hash prefix, or "anonymous"
	Model    string        `json:"model"`              // "namespace/name"
	Created  time.Time     `json:"created"`            //
	Deadline time.Time     `json:"deadline,omitzero"`  // no attempt starts after it
	Timeout  time.Duration `json:"timeout"`            // from the moment the engine starts
	Affinity string        `json:"affinity,omitempty"` // conversation whose prompt cache helps
	Priority Priority      `json:"priority,omitempty"` // "" is PriorityNormal
	// ReplayOf is the id of the dead letter that this request was made of.
	ReplayOf string `json:"replayOf,omitempty"`
	// Traceparent lets the runner's span go on with the trace of the HTTP
	// request (W3C Trace Context); "" begins a new one.
	Traceparent string `json:"traceparent,omitempty"`
	// Strict: an engine that ignores a parameter of the request must not answer it.
	Strict bool `json:"strict,omitempty"`
	// Operation says what is asked of the engine; "" is openai.OperationChat.
	Operation openai.Operation `json:"operation,omitempty"`
	Body      json.RawMessage  `json:"body"` // validated, in the normal form of the operation
}

// A Ref names a request and where it lies.
type Ref struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	Tenant  string `json:"tenant"`
}

// Ref names the request.
func (r Request) Ref() Ref { return Ref{ID: r.ID, Session: r.Session, Tenant: r.Tenant} }

// An Assignment hands one attempt of a request to one runner. The runner
// answers with an AssignmentReply and is busy from that moment on.
type Assignment struct {
	Attempt int    `json:"attempt"` // counts from 1
	Epoch   uint64 `json:"epoch"`   // fencing epoch of the leader; a runner refuses an older one than it has seen
	Seq     uint64 `json:"seq"`     // counts what this leader says to this runner, Sync included; late ones are refused
	// Instance of the runner that is meant; another of the same name is silent.
	Instance string  `json:"instance,omitempty"`
	Request  Request `json:"request"`
}

// An AssignmentReply accepts or refuses an Assignment.
type AssignmentReply struct {
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason,omitempty"` // why not: one of the Refused constants
	Epoch    uint64 `json:"epoch,omitempty"`  // RefusedStale: the newest epoch the runner has seen
	RunnerStatus
}

// Why a runner refuses an assignment.
const (
	RefusedBusy     = "busy"
	RefusedDraining = "draining"
	RefusedStale    = "stale" // a newer leader has spoken
	RefusedNotReady = "not-ready"
	RefusedUnsynced = "unsynced" // this leader has not asked yet what the runner holds
)

// A Sync is how a leader makes itself known to a runner. The runner answers
// with its Runner record, and from then on refuses leaders of an older epoch.
type Sync struct {
	Epoch uint64 `json:"epoch"`
	Seq   uint64 `json:"seq"` // see Assignment
	// Instance is as in Assignment.
	Instance string `json:"instance,omitempty"`
}

// A SyncReply tells a leader what a runner holds.
type SyncReply struct {
	Runner Runner `json:"runner"`
	Epoch  uint64 `json:"epoch"` // the newest epoch the runner has seen; above the leader's own: it is stale
}

// A FirstToken tells the leader that an attempt has reached its first token: from
// now on it cannot be tried elsewhere.
type FirstToken struct {
	Request string `json:"request"`
	Epoch   uint64 `json:"epoch"`
	Attempt int    `json:"attempt"`
	Runner  string `json:"runner"`
}

// A Resume asks for the frames of an attempt from Seq on. An older attempt
// than the one at hand, or none, asks for all of them.
type Resume struct {
	Epoch   uint64 `json:"epoch"`
	Attempt int    `json:"attempt"`
	Seq     int    `json:"seq"`
}

// A DrainOrder tells a runner to take no more work, or to take work again. It
// goes on with what it has, and answers with its Runner record.
type DrainOrder struct {
	Drain bool `json:"drain"`
}

// An Ack answers a message whose arrival matters.
type Ack struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
}

// A FrameKind says what a Frame carries.
type FrameKind string

// The kinds of frames. Exactly one of End and Error is the last of a request.
const (
	FrameQueued  FrameKind = "queued"  // dispatcher: waiting; Position and Wait are estimates
	FrameStarted FrameKind = "started" // runner: the engine works on it
	FrameDelta   FrameKind = "delta"   // runner: a piece of text
	FrameEnd     FrameKind = "end"     // dispatcher or runner: completed; FinishReason and Usage are set
	FrameError   FrameKind = "error"   // dispatcher: failed, expired or cancelled; Error is set
)

// A Frame is one message about a request on names.FramesSubject. A gateway
// shows frames of one attempt only, in the order of Seq, without a gap.
type Frame struct {
	Request string    `json:"request"`
	Epoch   uint64    `json:"epoch,omitempty"` // of the leader that made the attempt; (Epoch, Attempt) orders attempts
	Attempt int       `json:"attempt"`
	Seq     int       `json:"seq"` // counts from 0 in each attempt; dispatcher frames have -1
	Kind    FrameKind `json:"kind"`

	Ignored      []string `json:"ignored,omitempty"`      // FrameStarted: parameters that the engine does not honour
	Text         string   `json:"text,omitempty"`         // FrameDelta
	FinishReason string   `json:"finishReason,omitempty"` // FrameEnd: "stop" or "length"
	Usage        *Usage   `json:"usage,omitempty"`        // FrameEnd

	Position int           `json:"position,omitempty"` // FrameQueued: requests ahead
	Wait     time.Duration `json:"wait,omitempty"`     // FrameQueued: estimate

	Error *Failure `json:"error,omitempty"` // FrameError
}

// Usage counts tokens as OpenAI does.
type Usage struct {
	PromptTokens     int `json:"promptTokens"`
	CompletionTokens int `json:"completionTokens"`
}

// A Failure says why a request did not complete. Code is stable; Message is
// for people and never holds prompt text.
type Failure struct {
	Code    string `json:"code"` // one of the Code constants
	Message string `json:"message"`
	Param   string `json:"param,omitempty"` // of the request, that is at fault
}

// The failure codes.
const (
	CodeCancelled      = "cancelled"
	CodeExpired        = "expired"         // no attempt could start before the deadline
	CodeTimeout        = "timeout"         // Request.Timeout passed while the engine worked
	CodeEngineFailed   = "engine_failed"   // each attempt failed before its first token
	CodeInterrupted    = "interrupted"     // an attempt broke after its first token
	CodeHandedBack     = "handed_back"     // a draining runner gives the request back; tried elsewhere
	CodeInvalidRequest = "invalid_request" // the engine could not take the request as it is
	CodeContextLength  = "context_length_exceeded"
	CodeUnsupported    = "unsupported_parameter" // the engine ignores a parameter, and Request.Strict forbids that
)

// A State is the terminal state of a request.
type State string

// The terminal states: each accepted request ends in exactly one.
const (
	Completed State = "completed"
	Failed    State = "failed"
	Cancelled State = "cancelled"
	Expired   State = "expired"
)

// An AttemptEnd is what a runner reports of an attempt to the leader.
type AttemptEnd struct {
	Request      string    `json:"request"`
	Epoch        uint64    `json:"epoch,omitempty"`
	Attempt      int       `json:"attempt"`
	Runner       string    `json:"runner"`
	Started      time.Time `json:"started,omitzero"`    // when the engine was given the request
	FirstToken   time.Time `json:"firstToken,omitzero"` // zero: no text was sent, so it may be tried elsewhere
	Ended        time.Time `json:"ended"`
	FinishReason string    `json:"finishReason,omitempty"`
	Usage        Usage     `json:"usage"`
	Error        *Failure  `json:"error,omitempty"`
}

// An EndReport tells the leader of an AttemptEnd, and how the runner stands now.
type EndReport struct {
	AttemptEnd
	Status RunnerStatus `json:"standing"`
}

// An Outcome is the terminal record of a request in the outcome stream.
type Outcome struct {
	Request  string    `json:"request"`
	Session  string    `json:"session"`
	Tenant   string    `json:"tenant"`
	Model    string    `json:"model"`
	State    State     `json:"state"`
	Priority Priority  `json:"priority,omitempty"`
	Attempts int       `json:"attempts"`         // that a runner accepted
	Runner   string    `json:"runner,omitempty"` // of the last of them
	Created  time.Time `json:"created"`
	Started  time.Time `json:"started,omitzero"`
	First    time.Time `json:"firstToken,omitzero"`
	Ended    time.Time `json:"ended"`
	Usage    Usage     `json:"usage"`
	Error    *Failure  `json:"error,omitempty"`
	// Reasons say why attempts failed, oldest first.
	Reasons []string `json:"reasons,omitempty"`
	// Dead: the request is kept as a dead letter.
	Dead bool `json:"dead,omitempty"`
	// ReplayOf is the request that this one was made of, by its id.
	ReplayOf string `json:"replayOf,omitempty"`
}
