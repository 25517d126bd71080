package serving_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/queue"
)

// codeUnavailable is the gateway's for a queue that did not confirm.
const codeUnavailable = "queue_unavailable"

// check holds a history against what is promised (docs/serving.md).
func (h history) check() *report {
	r := &report{examined: map[guarantee]int{}}
	if h.queued != 0 {
		r.violated(nothingLost, "%d requests are still queued", h.queued)
	}
	for id, o := range h.outcomes {
		r.examine(endsOnce)
		if len(o) != 1 {
			r.violated(endsOnce, "%s ended %d times", id, len(o))
		}
	}
	for _, e := range h.entries {
		h.checkEntry(e, r)
	}
	h.checkTenants(r)
	h.checkSlots(r)
	for _, c := range h.contests {
		h.checkContest(c, r)
	}
	for _, m := range h.models {
		m.check(r)
	}
	return r
}

// checkEntry holds what came of a request against how it ended.
func (h history) checkEntry(e entry, r *report) {
	say := func(g guarantee, format string, args ...any) {
		r.violatedBy(e, g, format, args...)
	}
	r.examine(oneGeneration)
	n, nonce, err := parse(e.wish.ID, e.text)
	if err != nil {
		say(oneGeneration, "%v", err)
		return
	}
	outcomes := h.outcomes[e.id]
	if e.status == 200 {
		r.examine(nothingLost)
		if len(outcomes) == 0 {
			say(nothingLost, "it was accepted and has no outcome")
			return
		}
	}
	state := queue.State("")
	if len(outcomes) > 0 {
		state = outcomes[0].State
	}
	switch e.verdict {
	case ok:
		if n != e.wish.N {
			say(oneGeneration, "answered with %d pieces of %d", n, e.wish.N)
		}
		if state != queue.Completed {
			say(endsOnce, "the client saw the end, the outcome is %q", state)
		}
		if !h.generated(e.wish.ID, nonce, n) {
			say(oneGeneration, "no engine has generated it")
		}
	case fail:
		// Of a request whose storing was not confirmed the gateway cannot know
		// whether it is queued: it refuses it, and cancels it in case.
		unconfirmed := e.status == http.StatusServiceUnavailable && e.code == codeUnavailable
		if state == queue.Completed && e.code != queue.CodeInterrupted && !unconfirmed {
			say(endsOnce, "the client was told %q, the outcome is completed", e.code)
		}
	case info:
		if !h.cutOff(e) {
			say(oneGeneration, "its connection broke though no gateway was touched")
		}
	case silent:
		say(oneGeneration, "it ended after %d pieces without a word", n)
	case left:
		// What takes no time may be at its end before anybody hears.
		if rest := time.Duration(e.wish.N-n) * e.wish.Every; rest < time.Minute || !h.calm(e) || e.status != 200 {
			return
		}
		r.examine(stopsComputing)
		if h.generated(e.wish.ID, nonce, e.wish.N) {
			say(stopsComputing, "its client left after %d pieces, and all %d were computed", n, e.wish.N)
		}
		if state == queue.Completed {
			say(stopsComputing, "its client left, the outcome is completed")
		}
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
