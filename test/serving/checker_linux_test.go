package serving_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/queue"
)

// A sample is a history without violations, to which a test adds one.
type sample struct {
	history

	now         time.Time
	amber, bold tenant
}

// pieces returns the text of the numbered pieces of a generation.
func pieces(id, nonce string, numbers ...int) string {
	var b strings.Builder
	for _, i := range numbers {
		b.WriteString(piece(id, nonce, i))
	}
	return b.String()
}

func newSample() *sample {
	now := time.Now()
	s := &sample{now: now, amber: tenant{name: "amber", mark: "amber-1"}, bold: tenant{name: "bold", mark: "bold-2"}}
	first, second := "req_"+strings.Repeat("A", 26), "req_"+strings.Repeat("B", 26)
	s.entries = []entry{{
		prompt: prompt{ID: "amber-1-0", N: 3}, tenant: s.amber, invoked: now, ended: now.Add(time.Second), status: 200, id: first,
		text: pieces("amber-1-0", "g1", 0, 1, 2), received: []byte(first + pieces("amber-1-0", "g1", 0, 1, 2)), verdict: ok,
	}, {
		prompt: prompt{ID: "bold-2-0", N: 100, Every: time.Second}, tenant: s.bold, invoked: now, ended: now.Add(time.Second), status: 200, id: second,
		text: pieces("bold-2-0", "g2", 0, 1), received: []byte(second + pieces("bold-2-0", "g2", 0, 1)), verdict: disconnected,
	}}
	s.outcomes = map[string][]queue.Outcome{first: {{State: queue.Completed}}, second: {{State: queue.Cancelled}}}
	s.generations = []generation{{ID: "amber-1-0", Nonce: "g1", Pieces: 3}, {ID: "bold-2-0", Nonce: "g2", Pieces: 7}}
	s.probes = []probe{{by: s.bold, of: s.amber, what: "GET /it", mustRefuse: true, secret: s.amber.mark, status: 404, received: []byte("no such thing")}}
	files := map[string]string{"a": "1"}
	s.models = []modelState{{when: "then"}, {when: "now", ready: true, files: files, wanted: files, last: true}}
	s.serve("ababaaaa")
	return s
}

// serve adds a backlog of requests of amber (a) and bold (b), served in this order.
func (s *sample) serve(order string) {
	c := backlog{prompts: map[string]tenant{}}
	for i, who := range order {
		g := generation{ID: fmt.Sprintf("backlog%d-%d", len(s.backlogs), i)}
		c.prompts[g.ID] = map[rune]tenant{'a': s.amber, 'b': s.bold}[who]
		s.generations = append(s.generations, g)
	}
	s.backlogs = append(s.backlogs, c)
}

// overlap adds whole generations that run at the same time on engines with this
// number of slots.
func (s *sample) overlap(slots int, nonces ...string) {
	s.slots = slots
	for i, nonce := range nonces {
		s.generations = append(s.generations, generation{
			ID: fmt.Sprint("overlap", i), Nonce: nonce, Pieces: 1, Whole: true,
			Began: s.now.Add(time.Duration(i) * time.Millisecond), Ended: s.now.Add(time.Second),
		})
	}
}

// The checker must find each kind of violation.
func TestChecker(t *testing.T) {
	if r := newSample().check(); len(r.violations) != 0 {
		t.Fatalf("violations in a history without any: %v", r.violations)
	}
	type spoil func(s *sample, e *entry) // e is the answered request
	touched := func(s *sample) []span { return []span{{s.now, s.now}} }
	cases := map[guarantee]map[string]struct {
		spoil spoil
		want  string // "" if there is no violation
	}{
		endsOnce: {
			"Twice":       {func(s *sample, e *entry) { s.outcomes[e.id] = append(s.outcomes[e.id], queue.Outcome{}) }, "ended 2 times"},
			"OkButFailed": {func(s *sample, e *entry) { s.outcomes[e.id][0].State = queue.Failed }, `the outcome is "failed"`},
			"FailButOk":   {func(_ *sample, e *entry) { e.verdict, e.code = fail, queue.CodeEngineFailed }, "the outcome is completed"},
			"Interrupted": {func(_ *sample, e *entry) { e.verdict, e.code = fail, queue.CodeInterrupted }, ""},
			"Unconfirmed": {func(_ *sample, e *entry) { e.verdict, e.status, e.code, e.text = fail, 503, codeUnavailable, "" }, ""},
			"Refused":     {func(s *sample, e *entry) { e.verdict, e.status, e.text = fail, 503, ""; delete(s.outcomes, e.id) }, ""},
		},
		oneGeneration: {
			"Gap":      {func(_ *sample, e *entry) { e.text = pieces(e.prompt.ID, "g1", 0, 2) }, "comes where 1 is due"},
			"Repeat":   {func(_ *sample, e *entry) { e.text = pieces(e.prompt.ID, "g1", 0, 0, 1, 2) }, "comes where 1 is due"},
			"Mixed":    {func(_ *sample, e *entry) { e.text = pieces(e.prompt.ID, "g1", 0) + pieces(e.prompt.ID, "g2", 1, 2) }, "is not of generation g1"},
			"Stranger": {func(_ *sample, e *entry) { e.text = pieces("b", "g1", 0) }, "another request's"},
			"RealGap": {func(_ *sample, e *entry) {
				e.prompt.want, e.prompt.N, e.text = "one two three", 13, "one three"
			}, `text "one three" is not the beginning`},
			"RealCut":       {func(_ *sample, e *entry) { e.prompt.want, e.prompt.N, e.text = "one two", 7, "one" }, "with 3 pieces of 7"},
			"Rubbish":       {func(_ *sample, e *entry) { e.text = "hello" }, "of no generation"},
			"Cut":           {func(_ *sample, e *entry) { e.text = pieces(e.prompt.ID, "g1", 0, 1) }, "with 2 pieces of 3"},
			"Silent":        {func(_ *sample, e *entry) { e.text, e.verdict = pieces(e.prompt.ID, "g1", 0), silent }, "without an error"},
			"Invented":      {func(s *sample, _ *entry) { s.generations = s.generations[1:] }, "no engine has generated"},
			"EngineKilled":  {func(s *sample, _ *entry) { s.generations, s.faults = s.generations[1:], touched(s) }, ""},
			"Broken":        {func(_ *sample, e *entry) { e.verdict = info }, "though no gateway was touched"},
			"BrokenByOther": {func(s *sample, e *entry) { e.verdict, s.faults = info, touched(s) }, "though no gateway was touched"},
			"BrokenByFault": {func(s *sample, e *entry) { e.verdict, s.gateways = info, touched(s) }, ""},
			"BrokenLater": {func(s *sample, e *entry) {
				e.verdict, s.gateways = info, []span{{s.now.Add(time.Minute), s.now.Add(2 * time.Minute)}}
			}, "though no gateway was touched"},
		},
		nothingLost: {
			"Lost":   {func(s *sample, e *entry) { delete(s.outcomes, e.id) }, "has no outcome"},
			"Queued": {func(s *sample, _ *entry) { s.queued = 1 }, "still queued"},
		},
		stopsComputing: {
			"Computed":  {func(s *sample, _ *entry) { s.generations[1].Pieces = 100 }, "all 100 were computed"},
			"Completed": {func(s *sample, _ *entry) { s.outcomes[s.entries[1].id][0].State = queue.Completed }, "the outcome is completed"},
			"Short":     {func(s *sample, _ *entry) { s.generations[1].Pieces, s.entries[1].prompt.Every = 100, time.Millisecond }, ""},
			"Disturbed": {func(s *sample, _ *entry) { s.generations[1].Pieces, s.faults = 100, touched(s) }, ""},
		},
		tenantsIsolated: {
			"Mark": {func(s *sample, e *entry) { e.received = append(e.received, s.bold.mark...) }, "something of tenant bold"},
			"MarkInRefusal": {func(s *sample, e *entry) {
				e.verdict, e.status, e.text, e.received = fail, 503, "", []byte("behind "+s.bold.mark)
				delete(s.outcomes, e.id)
			}, "something of tenant bold"},
			"Id":        {func(s *sample, e *entry) { e.received = append(e.received, s.entries[1].id...) }, "the id of bold-2-0"},
			"SameId":    {func(s *sample, e *entry) { s.entries[1].id = e.id; s.entries[1].received = nil }, "have the same id"},
			"Probe":     {func(s *sample, _ *entry) { s.probes[0].received = []byte("look: " + s.amber.mark) }, "got something of amber by GET /it"},
			"Found":     {func(s *sample, _ *entry) { s.probes[0].status = 200 }, "got 200 for GET /it, which is amber's"},
			"Redirect":  {func(s *sample, _ *entry) { s.probes[0].status = 302 }, "got 302 for GET /it, which is amber's"},
			"Listing":   {func(s *sample, _ *entry) { s.probes[0].mustRefuse, s.probes[0].status = false, 200 }, ""},
			"NoAnswer":  {func(s *sample, _ *entry) { s.probes[0].status = 0 }, ""},
			"Forbidden": {func(s *sample, _ *entry) { s.probes[0].status = 403 }, ""},
		},
		noStarvation: {
			"FirstComeFirstServed": {func(s *sample, _ *entry) { s.serve("aaaaaaaabb") }, "request 1 of tenant bold was served after 8 of tenant amber"},
			"Late":                 {func(s *sample, _ *entry) { s.serve("aaaabb") }, "request 1 of tenant bold was served after 4"},
			"SlowlyLater":          {func(s *sample, _ *entry) { s.serve("aabaabaabaab") }, "request 4 of tenant bold was served after 8"},
			"Never":                {func(s *sample, _ *entry) { s.serve("ab"); s.generations = s.generations[:len(s.generations)-1] }, "and 1 were served"},
			"ABitLate":             {func(s *sample, _ *entry) { s.serve("aaabbaba") }, ""},
			"Alone":                {func(s *sample, _ *entry) { s.serve("baaaaaaaa") }, ""},
		},
		withinSlots: {
			"TooMany":      {func(s *sample, _ *entry) { s.overlap(3, "7-1", "7-2", "7-3", "7-4") }, "engine 7 computed 4 requests at the same time"},
			"JustAll":      {func(s *sample, _ *entry) { s.overlap(4, "7-1", "7-2", "7-3", "7-4") }, ""},
			"OtherEngines": {func(s *sample, _ *entry) { s.overlap(2, "7-1", "7-2", "8-1", "8-2") }, ""},
			"CutOff": {func(s *sample, _ *entry) {
				s.overlap(1, "7-1", "7-2")
				s.generations[len(s.generations)-1].Whole = false
			}, ""},
			"OneAfterTheOther": {func(s *sample, _ *entry) {
				s.overlap(1, "7-1", "7-2")
				last := &s.generations[len(s.generations)-1]
				last.Began, last.Ended = last.Ended, last.Ended.Add(time.Second)
			}, ""},
			"Disturbed": {func(s *sample, _ *entry) { s.overlap(1, "7-1", "7-2"); s.faults = touched(s) }, ""},
		},
		wholeModels: {
			"Wrong":     {func(s *sample, _ *entry) { s.models[1].wrong = errors.New("a byte differs") }, "now: a byte differs"},
			"Other":     {func(s *sample, _ *entry) { s.models[1].files = map[string]string{"a": "2"} }, "want map[a:1]"},
			"Missing":   {func(s *sample, _ *entry) { s.models[1].files = map[string]string{} }, "want map[a:1]"},
			"NoneLast":  {func(s *sample, _ *entry) { s.models[1].ready = false }, "there is no manifest"},
			"NoneFirst": {func(s *sample, _ *entry) { s.models[1].ready, s.models[1].last = false, false }, ""},
		},
	}
	for _, g := range guarantees() {
		for name, c := range cases[g] {
			t.Run(name, func(t *testing.T) {
				s := newSample()
				c.spoil(s, &s.entries[0])
				v := s.check().violations
				if c.want == "" {
					if len(v) != 0 {
						t.Errorf("got violations %v, want none", v)
					}
					return
				}
				for _, v := range v {
					if v.of == g && strings.Contains(v.what, c.want) {
						return
					}
				}
				t.Errorf("got %v, want a violation of %q: %s", v, g, c.want)
			})
		}
		if len(cases[g]) == 0 {
			t.Errorf("no violation of %q is tried", g)
		}
	}
}
