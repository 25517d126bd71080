package history

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// codeUnavailable is the gateway's error code for an unconfirmed publish.
const codeUnavailable = "queue_unavailable"

// check checks a history against the guarantees (docs/background/guarantees.md).
func (h History) check() *report {
	r := &report{examined: map[guarantee]int{}}
	if h.Queued != 0 {
		r.violated(NothingLost, "%d requests are still queued", h.Queued)
	}
	for id, o := range h.Outcomes {
		r.examine(EndsOnce)
		if len(o) != 1 {
			r.violated(EndsOnce, "%s ended %d times", id, len(o))
		}
	}
	for _, e := range h.Entries {
		h.checkEntry(e, r)
	}
	h.checkIsolation(r)
	h.checkSlots(r)
	for _, c := range h.Backlogs {
		h.checkFairness(c, r)
	}
	for _, m := range h.Models {
		m.check(r)
	}
	return r
}

// checkEntry compares the response to a request with its outcome.
func (h History) checkEntry(e Entry, r *report) {
	say := func(g guarantee, format string, args ...any) {
		r.violatedBy(e, g, format, args...)
	}
	r.examine(OneGeneration)
	n, nonce, err := e.Prompt.parse(e.text)
	if err != nil {
		say(OneGeneration, "%v", err)
		return
	}
	outcomes := h.Outcomes[e.ID]
	if e.Status == 200 {
		r.examine(NothingLost)
		if len(outcomes) == 0 {
			say(NothingLost, "it was accepted and has no outcome")
			return
		}
	}
	state := queue.State("")
	if len(outcomes) > 0 {
		state = outcomes[0].State
	}
	switch e.Verdict {
	case OK:
		if n != e.Prompt.N {
			say(OneGeneration, "answered with %d pieces of %d", n, e.Prompt.N)
		}
		if state != queue.Completed {
			say(EndsOnce, "the client saw the end, the outcome is %q", state)
		}
		if !h.generated(e.Prompt.ID, nonce, n) {
			say(OneGeneration, "no engine has generated it")
		}
	case fail:
		// If the publish of a request is not confirmed, the gateway cannot know
		// whether the request is queued. It refuses and cancels the request.
		unconfirmed := e.Status == http.StatusServiceUnavailable && e.Code == codeUnavailable
		if state == queue.Completed && e.Code != queue.CodeInterrupted && !unconfirmed {
			say(EndsOnce, "the client received %q, but the outcome is completed", e.Code)
		}
	case Broken:
		if !h.gatewayDisturbed(e) {
			say(OneGeneration, "its connection broke though no gateway was touched")
		}
	case silent:
		say(OneGeneration, "it ended after %d pieces without an error", n)
	case Disconnected:
		// A short request may complete before the cancellation arrives.
		if rest := time.Duration(e.Prompt.N-n) * e.Prompt.Every; rest < time.Minute || !h.undisturbed(e) || e.Status != 200 {
			return
		}
		r.examine(StopsComputing)
		if h.generated(e.Prompt.ID, nonce, e.Prompt.N) {
			say(StopsComputing, "its client disconnected after %d pieces, and all %d were computed", n, e.Prompt.N)
		}
		if state == queue.Completed {
			say(StopsComputing, "its client disconnected, and the outcome is completed")
		}
	}
}

// generated reports whether an engine has logged the generation. An engine that was
// killed cannot, so after any fault a missing log line counts as well.
func (h History) generated(id, nonce string, n int) bool {
	for _, g := range h.Generations {
		if g.ID == id && g.Nonce == nonce {
			return g.Pieces == n
		}
	}
	return len(h.Faults) > 0
}

// parse checks an answer. n is how much of it has come.
func (p Prompt) parse(text string) (n int, nonce string, err error) {
	if p.Want == "" {
		return parse(p.ID, text)
	}
	if !strings.HasPrefix(p.Want, text) {
		return 0, "", fmt.Errorf("text %q is not the beginning of %q", text, p.Want)
	}
	return len(text), "", nil
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

// check checks that a model with a manifest has the files of that manifest.
func (m ModelState) check(r *report) {
	if !m.Ready {
		if m.Last {
			r.violated(WholeModels, "%s: there is no manifest although the job has succeeded", m.When)
		}
		return
	}
	r.examine(WholeModels)
	if m.Wrong != nil {
		r.violated(WholeModels, "%s: %v", m.When, m.Wrong)
	}
	if !maps.Equal(m.Files, m.Wanted) {
		r.violated(WholeModels, "%s: the files are %v, want %v", m.When, m.Files, m.Wanted)
	}
}
