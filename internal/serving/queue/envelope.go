package queue

import (
	"encoding/json"
	"time"

	"github.com/gorizond/koldun/internal/openai"
)

// A Request is one accepted request in the request stream. It is published once,
// with Nats-Msg-Id = ID, and never changed.
type Request struct {
	ID       string        `json:"id"`                 // unique for ever: "req_" and a ULID-like word
	Session  string        `json:"session"`            // names.Session
	Tenant   string        `json:"tenant"`             // who asked: a token's hash prefix, or "anonymous"
	Model    string        `json:"model"`              // "namespace/name"
	Created  time.Time     `json:"created"`            //
	Deadline time.Time     `json:"deadline,omitzero"`  // no attempt starts after it
	EndBy    time.Time     `json:"endBy,omitzero"`     // it ends then, queued or running
	Timeout  time.Duration `json:"timeout"`            // from the moment the engine starts
	Affinity string        `json:"affinity,omitempty"` // conversation whose prompt cache helps
	Priority Priority      `json:"priority,omitempty"` // "" is PriorityNormal
	// ReplayOf is the id of the dead letter that this request replays.
	ReplayOf string `json:"replayOf,omitempty"`
	// Traceparent continues the trace of the HTTP request in the runner's span
	// (W3C Trace Context); "" begins a new trace.
	Traceparent string `json:"traceparent,omitempty"`
	// Strict means that an engine that ignores a parameter must refuse the request.
	Strict bool `json:"strict,omitempty"`
	// Operation is the requested operation; "" is openai.OperationChat.
	Operation openai.Operation `json:"operation,omitempty"`
	// Features are those that the request needs of its engine.
	Features openai.Features `json:"features,omitempty"`
	Body     json.RawMessage `json:"body"` // validated, in the normal form of the operation
}

// A Ref identifies a request and its subject.
type Ref struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	Tenant  string `json:"tenant"`
}

// Ref returns the reference of the request.
func (r Request) Ref() Ref { return Ref{ID: r.ID, Session: r.Session, Tenant: r.Tenant} }

// PastEnd returns the failure of a request that has not ended by EndBy.
func (r Request) PastEnd() *Failure {
	return &Failure{Code: CodeDeadline, Message: "the request did not end within its time limit of " + r.EndBy.Sub(r.Created).String()}
}

// An Assignment assigns one attempt of a request to one runner. The runner answers
// with an AssignmentReply and occupies a slot from then on.
type Assignment struct {
	Attempt int    `json:"attempt"` // counts from 1
	Epoch   uint64 `json:"epoch"`   // fencing epoch of the leader; a runner refuses an older one than it has seen
	Seq     uint64 `json:"seq"`     // counts what this leader says to this runner, Sync included; late ones are refused
	// Instance of the addressed runner; another instance of its name is silent.
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
	RefusedUnsynced = "unsynced" // this leader has not sent a Sync yet
)

// A Sync announces a leader to a runner. The runner answers with its Runner record,
// and from then on refuses leaders of an older epoch.
type Sync struct {
	Epoch uint64 `json:"epoch"`
	Seq   uint64 `json:"seq"` // see Assignment
	// Instance is as in Assignment.
	Instance string `json:"instance,omitempty"`
}

// A SyncReply contains the attempts of a runner.
type SyncReply struct {
	Runner Runner `json:"runner"`
	Epoch  uint64 `json:"epoch"` // the newest epoch the runner has seen; above the leader's own: it is stale
}

// A FirstToken reports to the leader that an attempt has reached its first token:
// from now on the request cannot be retried.
type FirstToken struct {
	Request string `json:"request"`
	Epoch   uint64 `json:"epoch"`
	Attempt int    `json:"attempt"`
	Runner  string `json:"runner"`
	// Instance is that of the runner's record, which no other runner knows.
	Instance string `json:"instance,omitempty"`
}

// A Resume requests the frames of an attempt from Seq on. An older attempt than the
// current one, or none, requests all frames. It also tells the leader that a client
// waits for the request of the tenant.
type Resume struct {
	Tenant  string `json:"tenant,omitempty"`
	Epoch   uint64 `json:"epoch"`
	Attempt int    `json:"attempt"`
	Seq     int    `json:"seq"`
}

// A DrainOrder makes a runner refuse assignments, or accept them again. The runner
// continues its attempts, and answers with its Runner record.
type DrainOrder struct {
	Drain bool `json:"drain"`
}

// A DepthQuery asks the leader of a session for its Depth.
type DepthQuery struct{}

// A Depth is the answer of a leader that has read the backlog of its session.
type Depth struct {
	// Requests that have not ended, waiting or running.
	Requests int `json:"requests"`
}

// An Ack acknowledges a message.
type Ack struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
}

// A FrameKind is the kind of a Frame.
type FrameKind string

// The kinds of frames. Exactly one of End and Error is the last of a request.
const (
	FrameQueued  FrameKind = "queued"  // dispatcher: waiting; Position and Wait are estimates
	FrameStarted FrameKind = "started" // runner: the engine works on it
	FrameDelta   FrameKind = "delta"   // runner: a piece of the answer
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
	Member       string   `json:"member,omitempty"`       // FrameStarted: name of the Dllama or Session that answers
	Text         string   `json:"text,omitempty"`         // FrameDelta
	FinishReason string   `json:"finishReason,omitempty"` // FrameEnd: that of the answer, as OpenAI has them
	Usage        *Usage   `json:"usage,omitempty"`        // FrameEnd

	Position int           `json:"position,omitempty"` // FrameQueued: requests ahead
	Wait     time.Duration `json:"wait,omitempty"`     // FrameQueued: estimate

	Error *Failure `json:"error,omitempty"` // FrameError

	// Raw is the JSON of what the piece holds beside its text (openai.Parts).
	Raw json.RawMessage `json:"raw,omitempty"` // FrameDelta
}

// Usage counts tokens as OpenAI does. nil is what the engine does not count.
type Usage struct {
	PromptTokens     int  `json:"promptTokens"`
	CompletionTokens int  `json:"completionTokens"`
	CachedTokens     *int `json:"cachedTokens,omitempty"`    // of the prompt
	ReasoningTokens  *int `json:"reasoningTokens,omitempty"` // of the completion
}

// A Failure is the reason why a request did not complete. Code is stable; Message
// is for users and never contains prompt text.
type Failure struct {
	Code    string `json:"code"` // one of the Code constants
	Message string `json:"message"`
	Param   string `json:"param,omitempty"` // of the request, that is at fault
	// RetryAfter is in how many seconds a server that is busy wants to be asked again;
	// absent where it did not say.
	RetryAfter int `json:"retryAfter,omitempty"`
}

// The failure codes.
const (
	CodeCancelled      = "cancelled"
	CodeExpired        = "expired"           // no attempt could start before the deadline
	CodeTimeout        = "timeout"           // Request.Timeout passed while the engine worked
	CodeDeadline       = "deadline_exceeded" // Request.EndBy passed, in the queue or while the engine worked
	CodeEngineFailed   = "engine_failed"     // each attempt failed before its first token
	CodeInterrupted    = "interrupted"       // an attempt broke after its first token
	CodeHandedBack     = "handed_back"       // a runner that drains, or whose engine does not run, hands the request back for a retry
	CodeBusy           = "server_busy"       // the server behind the runner refuses requests for now; another runner may take it
	CodeInvalidRequest = "invalid_request"   // the engine cannot serve the request
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

// An AttemptEnd is a runner's report of the end of an attempt.
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

// An EndReport is an AttemptEnd with the current status of the runner.
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
	Group    string    `json:"group,omitempty"`  // of that runner
	Created  time.Time `json:"created"`
	Started  time.Time `json:"started,omitzero"`
	First    time.Time `json:"firstToken,omitzero"`
	Ended    time.Time `json:"ended"`
	Usage    Usage     `json:"usage"`
	Error    *Failure  `json:"error,omitempty"`
	// Reasons are the causes of failed attempts, oldest first.
	Reasons []string `json:"reasons,omitempty"`
	// Dead means that the request is stored as a dead letter.
	Dead bool `json:"dead,omitempty"`
	// ReplayOf is the id of the dead letter that this request replays.
	ReplayOf string `json:"replayOf,omitempty"`
}
