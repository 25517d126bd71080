package supervise

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/model/progress"
)

// An output copies the output of a process, line by line and without prompts and
// completions, and derives the state from the lines. It is safe for concurrent
// use.
type output struct {
	engine *engine.Process
	role   engine.Role
	to     io.Writer

	mu       sync.Mutex
	state    State
	loading  time.Time // when the state became Loading
	sessions sessions
	scans    [2]*scanner // standard output and error
}

func newOutput(p *engine.Process, r engine.Role, to io.Writer) *output {
	o := &output{engine: p, role: r, to: to, state: State{Phase: Starting}, sessions: newSessions()}
	o.begin()
	return o
}

// begin resets the output for a new process.
func (o *output) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.scans {
		o.scans[i] = &scanner{engine: o.engine, line: o.line, text: o.text}
	}
}

// set sets the state independently of the output.
func (o *output) set(s State) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.state = s
}

// get returns the state corrected by the sockets. It keeps the correction only if
// lines arrive late, because v may be older than the last line.
func (o *output) get(v view) (s State, text bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.observed(v), o.scans[0].inside
}

// observed is called with mu held.
func (o *output) observed(v view) State {
	now := o.state.observe(o.role, v)
	if v.late {
		o.state = now
	}
	return now
}

// session returns the state together with the session that it belongs to.
func (o *output) session(v view) (s State, session string, over <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.observed(v), o.sessions.name(), o.sessions.over
}

// progress returns how far the engine is with loading.
func (o *output) progress(v view) (s progress.Summary, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.observed(v).progress(time.Since(o.loading))
}

// stream returns the writer of standard output (0) or error (1).
func (o *output) stream(i int) io.Writer { return writer{o, i} }

// end handles the rest without a line feed, and the end of the process.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.scans {
		s.flush()
	}
	o.state = State{Phase: Restarting}
	o.sessions.next()
}

// line handles one line. The caller holds the lock.
func (o *output) line(b []byte, n int, ok bool) {
	if !ok {
		o.say(withheld("line", n))
		return
	}
	shown, e, ok := o.engine.Classify(o.role, string(b))
	// A worker says twice that a session is over; a root, that it never began.
	if e.Kind == engine.EventEnd && (o.role == engine.RoleRoot || o.state.Phase != Starting) {
		o.sessions.next()
	}
	before := o.state.Phase
	o.state = o.state.apply(o.role, e)
	if o.state.Phase == Loading && before != Loading {
		o.loading = time.Now()
	}
	if !ok {
		shown = withheld("line", n)
	}
	o.say(shown)
}

func (o *output) text(n int) { o.say(withheld("text", n)) }

// say writes a line, and ignores errors of the log.
func (o *output) say(line string) { _, _ = io.WriteString(o.to, line+"\n") }

func withheld(what string, n int) string { return fmt.Sprintf("[%s of %d bytes withheld]", what, n) }

type writer struct {
	o *output
	i int
}

func (w writer) Write(p []byte) (int, error) {
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	return w.o.scans[w.i].Write(p)
}
