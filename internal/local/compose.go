package local

import "context"

// A Composer computes the composed resources of a composite. It is a pure
// function of its arguments, does not change them, and does not block.
type Composer interface {
	// Compose gets the composite with its status, its existing composed
	// resources by name, and the objects of earlier requirements by key: an
	// empty slice if no object matches, and no entry before the lookup.
	//
	// An error is final until an argument changes.
	Compose(ctx context.Context, xr Object, observed map[string]Object, required map[string][]Object) (Composed, error)
}

// Composed is the answer of a Composer.
type Composed struct {
	// Desired objects by a name that is unique in the composite. Objects without
	// a name or namespace get those of the composite, with a suffix.
	Desired map[string]Object
	// Ready reports which of them are ready. An object without an entry is ready
	// when its own condition Ready is true.
	Ready map[string]bool
	// Unready means that the composite is not ready, regardless of its resources.
	Unready bool
	// Status is the status of the composite, without conditions.
	Status map[string]any
	// Conditions of the composite, except Ready and Synced.
	Conditions []Condition
	// Results are messages for users. A Fatal result discards Desired.
	Results []Result
	// Requirements select objects to look up. Compose is called again with the
	// objects found.
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

// A Severity is the severity of a Result.
type Severity string

// The severities.
const (
	Normal  Severity = "Normal"
	Warning Severity = "Warning"
	Fatal   Severity = "Fatal"
)

// A Result is a message of a Composer.
type Result struct {
	Severity Severity
	Reason   string
	Message  string
}
