package engine

// A Process describes the processes of an engine that "koldun supervise" runs:
// what their output says of their state, and which of it holds text of users.
type Process struct {
	// Needs says what an image must hold, to users whose image lacks it.
	Needs string
	// Role returns the role of a command line, the program first.
	Role func(command []string) Role
	// KeyFile is where the supervisor of a root writes the key that its sidecar needs to
	// restart the engine, in a folder that both have.
	KeyFile string
	// TextBegin and TextEnd enclose a prompt with its completion in the output.
	// Each is four bytes long.
	TextBegin, TextEnd string
	// Classify reads a line without its line feed: the event that it stands
	// for, and what of it may be logged; ok is false if nothing may.
	Classify func(r Role, line string) (shown string, e Event, ok bool)
	// Resumes reports whether a line inside a text is one with which the engine
	// goes on after a completion that broke off.
	Resumes func(line []byte) bool
}

// RestartKeyHeader is the header with the key in requests to restart an engine, and
// EnvRestartKeyFile the variable with the path of its file.
const (
	RestartKeyHeader  = "Koldun-Restart-Key"
	EnvRestartKeyFile = "KOLDUN_RESTART_KEY_FILE"
)

// A Role is the part that a process plays in a topology.
type Role int

// Roles.
const (
	RoleRoot   Role = iota // reads text, serves it, and listens only once all weights are loaded
	RoleWorker             // listens for a root, and closes its socket while it belongs to one
)

// An EventKind is what a line of output says of the state of a process.
type EventKind int

// Kinds of events.
const (
	EventNone      EventKind = iota
	EventListening           // a port is listened on
	EventPeer                // a root has connected, or begins to load
	EventLayer               // a root has sent a layer: Loaded of Total
	EventTensor              // a worker has received its part of a tensor
	EventWeights             // all weights are loaded
	EventEnd                 // the session with the peers is over
)

// An Event is what one line of output says.
type Event struct {
	Kind          EventKind
	Loaded, Total int // layers; of EventLayer only
}
