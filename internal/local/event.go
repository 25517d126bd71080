package local

import (
	"time"

	"github.com/gorizond/koldun/internal/progress"
)

// An Observer is told what happens. Observe is never called from two
// goroutines at once, and holds everything up until it returns.
type Observer interface {
	Observe(Event)
}

// ObserverFunc is a function that observes.
type ObserverFunc func(Event)

// Observe calls f.
func (f ObserverFunc) Observe(e Event) { f(e) }

// An EventType says what has happened, and which fields of the Event tell more.
type EventType string

// The event types.
const (
	Added            EventType = "Added"            // an object is new: Owner, Role
	Removed          EventType = "Removed"          // an object is gone
	BecameReady      EventType = "BecameReady"      // Message may say how far: "1/1"
	BecameUnready    EventType = "BecameUnready"    // Message says why
	ConditionChanged EventType = "ConditionChanged" // of a composite: Condition
	ProgressMade     EventType = "ProgressMade"     // of a managed resource: Progress
	ProcessStarted   EventType = "ProcessStarted"   // Pod, Container, PID
	ProcessEnded     EventType = "ProcessEnded"     // Pod, Container, Message, and RestartIn if there is another try
	JobEnded         EventType = "JobEnded"         // Message; Failed says how
	Listening        EventType = "Listening"        // a Service's port is open: Endpoint
	NotRunHere       EventType = "NotRunHere"       // Message says why
	Trouble          EventType = "Trouble"          // something went wrong and is tried again: Message
	Stopping         EventType = "Stopping"         // everything is being stopped; no Object
	Stopped          EventType = "Stopped"          // nothing runs any more; no Object
)

// An Event is something that happened.
type Event struct {
	Time   time.Time
	Type   EventType
	Object Key
	Owner  Key    // the zero Key for what the claims file holds
	Role   string // the object's name among its owner's composed resources

	Message   string
	Failed    bool
	Pod       string
	Container string
	PID       int
	RestartIn time.Duration // 0: not tried again
	Condition Condition
	Progress  progress.Report
	Endpoint  Endpoint
}

// An Endpoint is a port of a Service on this machine.
type Endpoint struct {
	Service Key
	Port    int    // as the Service has it
	Address string // 127.0.0.1:PORT, where it can be reached
}
