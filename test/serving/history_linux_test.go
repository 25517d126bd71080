package serving_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/bus"
)

// A verdict is what a client knows of its request in the end.
type verdict string

const (
	ok     verdict = "ok"     // it was answered whole
	fail   verdict = "fail"   // it was told that there is no (whole) answer
	info   verdict = "info"   // its connection broke: it cannot know
	left   verdict = "left"   // it went away itself
	silent verdict = "silent" // the answer ended properly, without a word that it was not whole
)

// An entry is one request in the history, from its invocation to its end.
type entry struct {
	wish    wish
	invoked time.Time
	ended   time.Time
	status  int    // HTTP status; 0 if none came
	id      string // that the gateway gave it; "" if none came
	text    string // every byte of text that came
	verdict verdict
	code    string // of the error that it was told
}

// A history is what clients, engines and the outcome stream have recorded.
type history struct {
	entries     []entry
	outcomes    map[string][]bus.Outcome // by the gateway's id, in order
	generations []generation
	queued      uint64 // requests left in the stream
	// faults are when something was done to a gateway, which cuts its
	// clients' connections; without any no connection may break.
	faults []time.Time
}

// check returns every violation of what is promised (docs/serving.md).
func (h history) check() []string {
	var bad []string
	say := func(e entry, format string, args ...any) {
		bad = append(bad, fmt.Sprintf("%s (%s, %s): ", e.wish.ID, e.id, e.verdict)+fmt.Sprintf(format, args...))
	}
	if h.queued != 0 {
		bad = append(bad, fmt.Sprintf("%d requests are still queued", h.queued))
	}
	for id, o := range h.outcomes {
		if len(o) != 1 {
			bad = append(bad, fmt.Sprintf("%s ended %d times", id, len(o)))
		}
	}
	for _, e := range h.entries {
		n, nonce, err := parse(e.wish.ID, e.text)
		if err != nil {
			say(e, "%v", err)
			continue
		}
		h.checkEnd(e, n, nonce, say)
	}
	return bad
}

// checkEnd holds how a request ended against its outcome. n is how many pieces
// came, nonce of which generation.
func (h history) checkEnd(e entry, n int, nonce string, say func(entry, string, ...any)) {
	outcomes := h.outcomes[e.id]
	accepted := e.status == 200
	if accepted && len(outcomes) == 0 {
		say(e, "it was accepted and has no outcome")
		return
	}
	state := bus.State("")
	if len(outcomes) > 0 {
		state = outcomes[0].State
	}
	switch e.verdict {
	case ok:
		if n != e.wish.N {
			say(e, "answered with %d pieces of %d", n, e.wish.N)
		}
		if state != bus.Completed {
			say(e, "the client saw the end, the outcome is %q", state)
		}
		if !h.generated(e.wish.ID, nonce, n) {
			say(e, "no engine has generated it")
		}
	case fail:
		if state == bus.Completed && e.code != bus.CodeInterrupted {
			say(e, "the client was told %q, the outcome is completed", e.code)
		}
	case info:
		if !h.faulty(e) {
			say(e, "its connection broke though no gateway was touched")
		}
	case silent:
		say(e, "it ended after %d pieces without a word", n)
	case left:
	}
}

// generated reports whether an engine tells of that generation. One that was
// killed cannot.
func (h history) generated(id, nonce string, n int) bool {
	for _, g := range h.generations {
		if g.ID == id && g.Nonce == nonce {
			return g.Pieces == n
		}
	}
	return len(h.faults) > 0
}

func (h history) faulty(e entry) bool {
	for _, at := range h.faults {
		if !at.Before(e.invoked.Add(-time.Second)) && at.Before(e.ended.Add(time.Second)) {
			return true
		}
	}
	return false
}

// parse checks that text is the beginning of one generation for one request,
// without gap or repeat.
func parse(id, text string) (n int, nonce string, err error) {
	for word := range strings.FieldsSeq(text) {
		part := strings.Split(word, "/")
		if len(part) != 3 {
			return n, nonce, fmt.Errorf("piece %q is of no generation", word)
		}
		i, err := strconv.Atoi(part[2])
		switch {
		case part[0] != id:
			return n, nonce, fmt.Errorf("piece %q is another request's", word)
		case nonce != "" && part[1] != nonce:
			return n, nonce, fmt.Errorf("piece %q is not of generation %s", word, nonce)
		case err != nil || i != n:
			return n, nonce, fmt.Errorf("piece %q comes where %d is due", word, n)
		}
		nonce = part[1]
		n++
	}
	return n, nonce, nil
}
