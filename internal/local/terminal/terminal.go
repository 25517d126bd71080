// Package terminal shows the events of a local run to users: one line for each
// important change, progress bars for long work, and a summary with addresses
// when a claim is ready.
package terminal

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/model/progress"
)

// maxHeld limits the lines that are kept while the terminal is held.
const maxHeld = 1000

// Options describe what the output can show. The zero value suits a file.
type Options struct {
	Live    bool // lines can be overwritten
	Color   bool
	Unicode bool
	// Width returns the current number of columns; nil or 0 means no limit.
	Width func() int
}

// Detect returns what a file can show. It respects NO_COLOR and TERM=dumb.
func Detect(f *os.File) Options {
	tty := term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
	locale := os.Getenv("LC_ALL") + os.Getenv("LC_CTYPE") + os.Getenv("LANG")
	return Options{
		Live:    tty,
		Color:   tty && os.Getenv("NO_COLOR") == "",
		Unicode: strings.Contains(strings.ReplaceAll(strings.ToUpper(locale), "-", ""), "UTF8"),
		Width: func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0
			}
			return width
		},
	}
}

// A Terminal is a local.Observer that writes text for users. It is safe for
// concurrent use.
type Terminal struct {
	style

	mu      sync.Mutex
	screen  screen
	began   time.Time // of the first event
	objects map[local.Key]*object
	order   []local.Key
	held    int // number of holders
	waiting []string
}

// An object is the displayed state of one object.
type object struct {
	key, owner local.Key
	role       string
	added      time.Time
	wasReady   bool
	message    string                     // readiness, "1/1"
	address    string                     // of a Service
	notRun     bool                       // on this machine
	conditions map[string]local.Condition // as last printed
	starts     map[string]int             // of processes, by POD/CONTAINER
	endedAt    time.Time                  // last unrequested end of a process
	progress   progress.Report            // last report
	progressAt time.Time
}

var _ local.Observer = (*Terminal)(nil)

// New returns a Terminal that writes to w.
func New(w io.Writer, o Options) *Terminal {
	return &Terminal{
		style:   newStyle(o.Color, o.Unicode),
		screen:  screen{w: w, live: o.Live, width: o.Width},
		objects: map[local.Key]*object{},
	}
}

// Observe prints an event if it matters to users.
func (t *Terminal) Observe(e local.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.began.IsZero() {
		t.began = e.Time
	}
	lines := t.lines(clean(e))
	if t.held > 0 {
		t.waiting = append(t.waiting, lines...)
		t.waiting = t.waiting[max(0, len(t.waiting)-maxHeld):]
		return
	}
	t.screen.print(lines, e.Time)
}

// clean reduces each external text of an event to one line.
func clean(e local.Event) local.Event {
	for _, text := range []*string{
		&e.Message, &e.Role, &e.Pod, &e.Container, &e.Object.Namespace, &e.Object.Name, &e.Condition.Reason, &e.Condition.Message,
		&e.Progress.Stage, &e.Progress.Item, &e.Progress.Message,
	} {
		*text = oneLine(*text)
	}
	return e
}

// Hold buffers lines until release is called, so that the caller can write to the
// same output.
func (t *Terminal) Hold() (release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held++
	t.screen.clear()
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.held--; t.held == 0 {
			t.screen.print(t.waiting, time.Time{})
			t.waiting = nil
		}
	})
}

// Close clears the progress bars.
func (t *Terminal) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.screen.clear()
}
