package supervise

import (
	"fmt"

	"github.com/gorizond/koldun/internal/engine"
)

// A Phase is where a supervised process is in its life. Its text is what
// /readyz answers and other supervisors read.
type Phase string

// Phases.
const (
	Waiting    Phase = "waiting"    // for workers, before the start
	Starting   Phase = "starting"   // it runs, and does nothing that is known
	Listening  Phase = "listening"  // a worker without a root
	Loading    Phase = "loading"    // weights are shipped
	Serving    Phase = "serving"    // a root that answers, a worker that belongs to one
	Restarting Phase = "restarting" // it has ended, and is about to be started again
)

// phases in the order of a life.
func phases() []Phase {
	return []Phase{Waiting, Starting, Listening, Loading, Serving, Restarting}
}

// A State is a phase and, while loading, how far it is.
type State struct {
	Phase Phase
	// Loaded and Total count layers at a root and tensors at a worker. Total is
	// 0 if it is not known, which it never is at a worker.
	Loaded, Total int
}

// String is "serving", "loading 3" or "loading 3 of 32".
func (s State) String() string {
	if s.Phase != Loading {
		return string(s.Phase)
	}
	if s.Total == 0 {
		return fmt.Sprintf("%s %d", s.Phase, s.Loaded)
	}
	return fmt.Sprintf("%s %d of %d", s.Phase, s.Loaded, s.Total)
}

// Ready reports whether the process does what its role is for. A worker does
// as soon as it listens: only then can a root come.
func (s State) Ready(r engine.Role) bool {
	switch s.Phase {
	case Serving:
		return true
	case Listening, Loading:
		return r == engine.RoleWorker
	}
	return false
}

// apply is the state after an event of the output.
func (s State) apply(r engine.Role, e engine.Event) State {
	switch e.Kind {
	case engine.EventListening:
		if r == engine.RoleRoot {
			return State{Phase: Serving}
		}
		return State{Phase: Listening}
	case engine.EventPeer:
		if s.Phase == Loading {
			return s
		}
		return State{Phase: Loading}
	case engine.EventLayer:
		return State{Phase: Loading, Loaded: e.Loaded, Total: e.Total}
	case engine.EventTensor:
		return State{Phase: Loading, Loaded: s.Loaded + 1}
	case engine.EventWeights:
		if r == engine.RoleWorker {
			return State{Phase: Serving}
		}
		return State{Phase: Loading, Loaded: s.Total, Total: s.Total}
	case engine.EventEnd:
		return State{Phase: Starting}
	}
	return s
}

// A view is what the kernel says about the sockets of a process.
type view struct {
	known     bool // false if the kernel did not tell
	listening bool // one of them accepts connections
	connected int  // connections that one of them has accepted
	// left are connections to other nodes of which the other side is closed
	// and ours is not.
	left int
	// late means that lines come only when a buffer is full, so that sockets
	// count for more than they do.
	late bool
}

// observe corrects what the output said by what the sockets are.
func (s State) observe(r engine.Role, v view) State {
	if !v.known || s.Phase == Waiting || s.Phase == Restarting {
		return s
	}
	if r == engine.RoleRoot {
		return s.observeRoot(v)
	}
	switch {
	case v.listening && (s.Phase == Starting || v.late):
		return State{Phase: Listening}
	case !v.listening && s.Phase == Listening && v.late:
		return State{Phase: Serving}
	case !v.listening && s.Phase == Listening:
		return State{Phase: Loading}
	}
	return s
}

func (s State) observeRoot(v view) State {
	switch {
	case v.listening:
		return State{Phase: Serving}
	case s.Phase == Serving:
		return State{Phase: Starting}
	}
	return s
}

// busy reports whether an end now would cut somebody off. text says that the
// output is in the middle of a prompt or completion; it counts only if the
// sockets are unknown, because a completion that was broken off has no end.
func (s State) busy(r engine.Role, v view, text bool) bool {
	if r == engine.RoleWorker {
		return s.Phase == Loading || s.Phase == Serving
	}
	if v.known {
		return v.connected > 0
	}
	return text
}
