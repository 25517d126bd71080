package serving_test

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/queue"
)

// codeUnavailable is the gateway's error code for an unconfirmed publish.
const codeUnavailable = "queue_unavailable"

// check checks a history against the guarantees (docs/serving.md).
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
	h.checkIsolation(r)
	h.checkSlots(r)
	for _, c := range h.backlogs {
		h.checkFairness(c, r)
	}
	for _, m := range h.models {
		m.check(r)
	}
	return r
}

// checkEntry compares the response to a request with its outcome.
func (h history) checkEntry(e entry, r *report) {
	say := func(g guarantee, format string, args ...any) {
		r.violatedBy(e, g, format, args...)
	}
	r.examine(oneGeneration)
	n, nonce, err := e.prompt.parse(e.text)
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
		if n != e.prompt.N {
			say(oneGeneration, "answered with %d pieces of %d", n, e.prompt.N)
		}
		if state != queue.Completed {
			say(endsOnce, "the client saw the end, the outcome is %q", state)
		}
		if !h.generated(e.prompt.ID, nonce, n) {
			say(oneGeneration, "no engine has generated it")
		}
	case fail:
		// If the publish of a request is not confirmed, the gateway cannot know
		// whether the request is queued. It refuses and cancels the request.
		unconfirmed := e.status == http.StatusServiceUnavailable && e.code == codeUnavailable
		if state == queue.Completed && e.code != queue.CodeInterrupted && !unconfirmed {
			say(endsOnce, "the client received %q, but the outcome is completed", e.code)
		}
	case info:
		if !h.gatewayDisturbed(e) {
			say(oneGeneration, "its connection broke though no gateway was touched")
		}
	case silent:
		say(oneGeneration, "it ended after %d pieces without an error", n)
	case disconnected:
		// A short request may complete before the cancellation arrives.
		if rest := time.Duration(e.prompt.N-n) * e.prompt.Every; rest < time.Minute || !h.undisturbed(e) || e.status != 200 {
			return
		}
		r.examine(stopsComputing)
		if h.generated(e.prompt.ID, nonce, e.prompt.N) {
			say(stopsComputing, "its client disconnected after %d pieces, and all %d were computed", n, e.prompt.N)
		}
		if state == queue.Completed {
			say(stopsComputing, "its client disconnected, and the outcome is completed")
		}
	}
}

// generated reports whether an engine has logged the generation. An engine that was
// killed cannot, so after any fault a missing log line counts as well.
func (h history) generated(id, nonce string, n int) bool {
	for _, g := range h.generations {
		if g.ID == id && g.Nonce == nonce {
			return g.Pieces == n
		}
	}
	return len(h.faults) > 0
}

// parse checks an answer. n is how much of it has come.
func (p prompt) parse(text string) (n int, nonce string, err error) {
	if p.want == "" {
		return parse(p.ID, text)
	}
	if !strings.HasPrefix(p.want, text) {
		return 0, "", fmt.Errorf("text %q is not the beginning of %q", text, p.want)
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
func (m modelState) check(r *report) {
	if !m.ready {
		if m.last {
			r.violated(wholeModels, "%s: there is no manifest although the job has succeeded", m.when)
		}
		return
	}
	r.examine(wholeModels)
	if m.wrong != nil {
		r.violated(wholeModels, "%s: %v", m.when, m.wrong)
	}
	if !maps.Equal(m.files, m.wanted) {
		r.violated(wholeModels, "%s: the files are %v, want %v", m.when, m.files, m.wanted)
	}
}
