package bus

import (
	"encoding/json"
	"time"
)

// A Request is one accepted request as it lies in the request stream. It is
// published once, with Nats-Msg-Id = ID, and never changed.
type Request struct {
	ID       string          `json:"id"`                 // unique for ever: "req_" and a ULID-like word
	Session  string          `json:"session"`            // names.Session
	Tenant   string          `json:"tenant"`             // who asked: a token's hash prefix, or "anonymous"
	Model    string          `json:"model"`              // "namespace/name"
	Created  time.Time       `json:"created"`            //
	Deadline time.Time       `json:"deadline,omitzero"`  // no attempt starts after it
	Timeout  time.Duration   `json:"timeout"`            // from the moment the engine starts
	Affinity string          `json:"affinity,omitempty"` // conversation whose prompt cache helps
	Body     json.RawMessage `json:"body"`               // the OpenAI chat completion request, validated
}

// An Assignment hands one attempt of a request to one runner. The runner
// answers with an AssignmentReply and is busy from that moment on.
type Assignment struct {
	Request Request `json:"request"`
	Attempt int     `json:"attempt"` // counts from 1
	Epoch   uint64  `json:"epoch"`   // fencing epoch of the leader; a runner refuses an older one than it has seen
}

// An AssignmentReply accepts or refuses an Assignment.
type AssignmentReply struct {
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason,omitempty"` // why not: "busy", "draining", "stale", "not-ready"
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
	Attempt int       `json:"attempt"`
	Seq     int       `json:"seq"` // counts from 0 in each attempt; dispatcher frames have -1
	Kind    FrameKind `json:"kind"`

	Text         string `json:"text,omitempty"`         // FrameDelta
	FinishReason string `json:"finishReason,omitempty"` // FrameEnd: "stop" or "length"
	Usage        *Usage `json:"usage,omitempty"`        // FrameEnd

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
	Code    string `json:"code"` // "cancelled", "expired", "engine_failed", "interrupted", "invalid_request", "context_length_exceeded"
	Message string `json:"message"`
}

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
	Attempt      int       `json:"attempt"`
	Runner       string    `json:"runner"`
	FirstToken   time.Time `json:"firstToken,omitzero"` // zero: no text was sent, so it may be tried elsewhere
	Ended        time.Time `json:"ended"`
	FinishReason string    `json:"finishReason,omitempty"`
	Usage        Usage     `json:"usage"`
	Error        *Failure  `json:"error,omitempty"`
}

// An Outcome is the terminal record of a request in the outcome stream.
type Outcome struct {
	Request  string    `json:"request"`
	Session  string    `json:"session"`
	Tenant   string    `json:"tenant"`
	Model    string    `json:"model"`
	State    State     `json:"state"`
	Attempts int       `json:"attempts"`
	Created  time.Time `json:"created"`
	Started  time.Time `json:"started,omitzero"`
	First    time.Time `json:"firstToken,omitzero"`
	Ended    time.Time `json:"ended"`
	Usage    Usage     `json:"usage"`
	Error    *Failure  `json:"error,omitempty"`
}

// A RunnerState is what a runner is doing.
type RunnerState string

// The runner states.
const (
	RunnerStarting RunnerState = "starting" // the engine does not answer yet
	RunnerIdle     RunnerState = "idle"
	RunnerBusy     RunnerState = "busy"
	RunnerDraining RunnerState = "draining" // finishes what it has, takes nothing new
)

// A Runner is a runner's own record in names.RunnersBucket, refreshed well
// within its TTL and at each change.
type Runner struct {
	Name     string      `json:"name"`
	Session  string      `json:"session"`
	Model    string      `json:"model"`
	State    RunnerState `json:"state"`
	Requests []string    `json:"requests,omitempty"` // ids it holds
	Affinity string      `json:"affinity,omitempty"` // conversation in its prompt cache
	// Last is the end of its latest attempt, until the leader has acknowledged
	// it: a new leader learns from it what it missed.
	Last *AttemptEnd `json:"last,omitempty"`
}
