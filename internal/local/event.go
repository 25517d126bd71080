package local

import (
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
)

// An Observer gets all events. Calls of Observe are never concurrent, and
// everything waits for their return.
type Observer interface {
	Observe(e Event)
}

// ObserverFunc is a function as an Observer.
type ObserverFunc func(Event)

// Observe calls f.
func (f ObserverFunc) Observe(e Event) { f(e) }

// An EventType is the type of an Event. It determines the fields that are set.
type EventType string

// The event types.
const (
	Added            EventType = "Added"            // an object was added: Owner, Role
	Removed          EventType = "Removed"          // an object was removed
	BecameReady      EventType = "BecameReady"      // Message may hold the count: "1/1"
	BecameUnready    EventType = "BecameUnready"    // Message holds the cause
	ConditionChanged EventType = "ConditionChanged" // of a composite: Condition
	ProgressMade     EventType = "ProgressMade"     // of a managed resource: Progress
	ProcessStarted   EventType = "ProcessStarted"   // Pod, Container, PID
	ProcessEnded     EventType = "ProcessEnded"     // Pod, Container, Message, and RestartIn if it restarts
	JobEnded         EventType = "JobEnded"         // Message, Failed
	Listening        EventType = "Listening"        // a Service's port is open: Endpoint
	NotRunHere       EventType = "NotRunHere"       // Message holds the cause
	Problem          EventType = "Problem"          // an error that will be retried: Message
	Stopping         EventType = "Stopping"         // the shutdown starts; no Object
	Stopped          EventType = "Stopped"          // the shutdown is complete; no Object
)

// An Event is a change in the table or of a process.
type Event struct {
	Time   time.Time
	Type   EventType
	Object Key
	Owner  Key    // the zero Key for objects of the claims file
	Role   string // the object's name among its owner's composed resources

	Message   string
	Failed    bool
	Pod       string
	Container string
	PID       int
	RestartIn time.Duration // 0: no restart
	Condition Condition
	Progress  progress.Report
	Endpoint  Endpoint
}

// An Endpoint is a port of a Service on this machine.
type Endpoint struct {
	Service Key
	Port    int    // of the Service
	Address string // local address, 127.0.0.1:PORT
}

// emit sends an event to the observer.
func (t *table) emit(e Event) {
	e.Time = time.Now()
	if known := t.entries[e.Object]; known != nil {
		e.Owner, e.Role = known.owner, known.role
	}
	t.observer.Observe(e)
}

// reportProblemOnce reports the current error of an object, if any, unless it was the last
// one reported.
func (t *table) reportProblemOnce(e *entry, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if err != nil && text != e.lastProblem {
		t.reportProblem(e.key, err)
	}
	e.lastProblem = text
}

// reportProblem reports an error that will be retried.
func (t *table) reportProblem(about Key, err error) {
	t.log.Debug("trouble", "object", about.String(), "kind", fault.KindOf(err), "error", err)
	t.emit(Event{Type: Problem, Object: about, Message: err.Error()})
}
