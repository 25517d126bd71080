// Package terminal shows people what happens while claims run here: one line
// for each change that matters, live bars for work that takes long, and in the
// end what runs where.
package terminal

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/progress"
)

// maxHeld bounds the lines that are kept while the terminal is held.
const maxHeld = 1000

// Options say what the other side can show. The zero value suits a file.
type Options struct {
	Live    bool // lines can be drawn over
	Color   bool
	Unicode bool
	// Width is the number of columns now; nil or 0 means no limit.
	Width func() int
}

// Detect finds out what a file can show. NO_COLOR and TERM=dumb are heeded.
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

// A Terminal is a local.Observer that writes for people. It is safe for
// concurrent use.
type Terminal struct {
	style

	mu      sync.Mutex
	screen  screen
	began   time.Time // of the first event
	objects map[local.Key]*object
	order   []local.Key
	held    int // how many hold it
	waiting []string
}

// An object is what is known of one.
type object struct {
	key, owner local.Key
	role       string
	added      time.Time
	wasReady   bool
	message    string                     // how far, "1/1"
	address    string                     // of a Service
	notRun     bool                       // here
	conditions map[string]local.Condition // that were told
	starts     map[string]int             // of processes, by POD/CONTAINER
	endedAt    time.Time                  // of its last process that was not asked to
	progress   progress.Report            // that was told
	progressAt time.Time
}

var _ local.Observer = (*Terminal)(nil)

// New makes a Terminal that writes to w.
func New(w io.Writer, o Options) *Terminal {
	return &Terminal{
		style:   newStyle(o.Color, o.Unicode),
		screen:  screen{w: w, live: o.Live, width: o.Width},
		objects: map[local.Key]*object{},
	}
}

// Observe shows an event, if people need to know it.
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

// clean makes one line of every text that comes from elsewhere.
func clean(e local.Event) local.Event {
	for _, text := range []*string{
		&e.Message, &e.Role, &e.Pod, &e.Container, &e.Object.Namespace, &e.Object.Name, &e.Condition.Reason, &e.Condition.Message,
		&e.Progress.Stage, &e.Progress.Item, &e.Progress.Message,
	} {
		*text = oneLine(*text)
	}
	return e
}

// Hold keeps lines back, so that somebody else can write to the same place,
// until release is called.
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

// Close takes the live lines away.
func (t *Terminal) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.screen.clear()
}
