package local

import "context"

// A Composer says what a composite consists of. It is a pure function of its
// arguments, which it leaves as they are, and does not block.
type Composer interface {
	// Compose is given the composite with its status, those of its composed
	// resources that exist by their names among its resources, and what it
	// required before by the keys of its requirements: an empty slice if there
	// is no such object, no entry if nobody has looked yet.
	//
	// An error is final as long as nothing of that changes.
	Compose(ctx context.Context, xr Object, observed map[string]Object, required map[string][]Object) (Composed, error)
}

// Composed is the answer of a Composer.
type Composed struct {
	// Desired objects by a name that is unique in the composite. Without a
	// name or namespace they get one after the composite.
	Desired map[string]Object
	// Ready says which of them are ready. One that is not in it is ready when
	// its own condition Ready is true.
	Ready map[string]bool
	// Unready says that the composite is not ready, whatever it composes.
	Unready bool
	// Status is the composite's, without conditions.
	Status map[string]any
	// Conditions of the composite. Ready and Synced are not the Composer's to
	// set.
	Conditions []Condition
	// Results are for people, but a Fatal one discards Desired.
	Results []Result
	// Requirements are objects to be looked up; Compose is called again with
	// what was found.
	Requirements map[string]Requirement
}

// A Condition is one entry of an object's status.conditions.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"` // True, False or Unknown
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// Condition types and statuses with a meaning here.
const (
	Ready   = "Ready"
	Synced  = "Synced"
	Serving = "Serving"

	True  = "True"
	False = "False"
)

// A Severity says how bad a Result is.
type Severity string

// The severities.
const (
	Normal  Severity = "Normal"
	Warning Severity = "Warning"
	Fatal   Severity = "Fatal"
)

// A Result is something that a Composer has to say.
type Result struct {
	Severity Severity
	Reason   string
	Message  string
}
