package supervise

import (
	"fmt"
	"time"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/model/progress"
)

// A Phase is a phase in the life of a supervised process. /readyz returns its
// text, which other supervisors read.
type Phase string

// Phases.
const (
	Waiting    Phase = "waiting"    // for workers, before the start
	Starting   Phase = "starting"   // it runs without a known state
	Listening  Phase = "listening"  // a worker without a root
	Loading    Phase = "loading"    // weights are being transferred
	Serving    Phase = "serving"    // a root that answers, a worker with a root
	Restarting Phase = "restarting" // it has ended and will be restarted
)

// phases lists the phases in order.
func phases() []Phase {
	return []Phase{Waiting, Starting, Listening, Loading, Serving, Restarting}
}

// A State is a phase with the progress of loading.
type State struct {
	Phase Phase
	// Loaded and Total count layers of a root and tensors of a worker. Total is
	// 0 if unknown, as always for a worker.
	Loaded, Total int
}

// String returns "serving", "loading 3" or "loading 3 of 32".
func (s State) String() string {
	if s.Phase != Loading {
		return string(s.Phase)
	}
	if s.Total == 0 {
		return fmt.Sprintf("%s %d", s.Phase, s.Loaded)
	}
	return fmt.Sprintf("%s %d of %d", s.Phase, s.Loaded, s.Total)
}

// progress returns how far a root is after it has loaded for that time; ok is false
// unless it loads and the number of layers is known. All layers are of one size.
func (s State) progress(elapsed time.Duration) (_ progress.Summary, ok bool) {
	if s.Phase != Loading || s.Total <= 0 {
		return progress.Summary{}, false
	}
	loaded := min(s.Loaded, s.Total)
	out := progress.Summary{Stage: progress.Load, Percent: loaded * 100 / s.Total}
	if loaded > 0 {
		out.ETASeconds = int64(elapsed.Seconds() * float64(s.Total-loaded) / float64(loaded))
	}
	return out, true
}

// Ready reports whether the process fulfils its role. A worker does as soon as it
// listens, because a root connects only then.
func (s State) Ready(r engine.Role) bool {
	switch s.Phase {
	case Serving:
		return true
	case Listening, Loading:
		return r == engine.RoleWorker
	}
	return false
}

// apply returns the state after an event of the output.
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

// A view is the state of a process's sockets in the kernel.
type view struct {
	known     bool // whether the kernel has the information
	listening bool // whether a socket listens
	connected int  // number of accepted connections
	// left is the number of connections to other nodes that the peer has closed
	// and the process has not.
	left int
	// late means that lines arrive only when a buffer is full, so that sockets
	// override them.
	late bool
}

// observe returns the state of the output corrected by the sockets.
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

// busy reports whether a session is active. The parameter text means that the
// output is within a prompt or completion. It counts only if the sockets are
// unknown, because an interrupted completion has no end.
func (s State) busy(r engine.Role, v view, text bool) bool {
	if r == engine.RoleWorker {
		return s.Phase == Loading || s.Phase == Serving
	}
	if v.known {
		return v.connected > 0
	}
	return text
}
