package history

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// A sample is a history without violations, to which a test adds one.
type sample struct {
	History

	now         time.Time
	amber, bold Tenant
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
	s := &sample{now: now, amber: Tenant{Name: "amber", Mark: "amber-1"}, bold: Tenant{Name: "bold", Mark: "bold-2"}}
	first, second := "req_"+strings.Repeat("A", 26), "req_"+strings.Repeat("B", 26)
	s.Entries = []Entry{{
		Prompt: Prompt{ID: "amber-1-0", N: 3}, Tenant: s.amber, Invoked: now, Ended: now.Add(time.Second), Status: 200, ID: first,
		text: pieces("amber-1-0", "g1", 0, 1, 2), Received: []byte(first + pieces("amber-1-0", "g1", 0, 1, 2)), Verdict: OK,
	}, {
		Prompt: Prompt{ID: "bold-2-0", N: 100, Every: time.Second}, Tenant: s.bold, Invoked: now, Ended: now.Add(time.Second), Status: 200, ID: second,
		text: pieces("bold-2-0", "g2", 0, 1), Received: []byte(second + pieces("bold-2-0", "g2", 0, 1)), Verdict: Disconnected,
	}}
	s.Outcomes = map[string][]queue.Outcome{first: {{State: queue.Completed}}, second: {{State: queue.Cancelled}}}
	s.Generations = []Generation{{ID: "amber-1-0", Nonce: "g1", Pieces: 3}, {ID: "bold-2-0", Nonce: "g2", Pieces: 7}}
	s.Probes = []Probe{{By: s.bold, Of: s.amber, What: "GET /it", MustRefuse: true, Secret: s.amber.Mark, Status: 404, Received: []byte("no such thing")}}
	files := map[string]string{"a": "1"}
	s.Models = []ModelState{{When: "then"}, {When: "now", Ready: true, Files: files, Wanted: files, Last: true}}
	s.serve("ababaaaa")
	return s
}

// serve adds a backlog of requests of amber (a) and bold (b), served in this order.
func (s *sample) serve(order string) {
	c := Backlog{Prompts: map[string]Tenant{}}
	for i, who := range order {
		g := Generation{ID: fmt.Sprintf("backlog%d-%d", len(s.Backlogs), i)}
		c.Prompts[g.ID] = map[rune]Tenant{'a': s.amber, 'b': s.bold}[who]
		s.Generations = append(s.Generations, g)
	}
	s.Backlogs = append(s.Backlogs, c)
}

// overlap adds whole generations that run at the same time on engines with this
// number of slots.
func (s *sample) overlap(slots int, nonces ...string) {
	s.Slots = slots
	for i, nonce := range nonces {
		s.Generations = append(s.Generations, Generation{
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
	type spoil func(s *sample, e *Entry) // e is the answered request
	touched := func(s *sample) []Span { return []Span{{s.now, s.now}} }
	cases := map[guarantee]map[string]struct {
		spoil spoil
		want  string // "" if there is no violation
	}{
		EndsOnce: {
			"Twice":       {func(s *sample, e *Entry) { s.Outcomes[e.ID] = append(s.Outcomes[e.ID], queue.Outcome{}) }, "ended 2 times"},
			"OkButFailed": {func(s *sample, e *Entry) { s.Outcomes[e.ID][0].State = queue.Failed }, `the outcome is "failed"`},
			"FailButOk":   {func(_ *sample, e *Entry) { e.Verdict, e.Code = fail, queue.CodeEngineFailed }, "the outcome is completed"},
			"Interrupted": {func(_ *sample, e *Entry) { e.Verdict, e.Code = fail, queue.CodeInterrupted }, ""},
			"Unconfirmed": {func(_ *sample, e *Entry) { e.Verdict, e.Status, e.Code, e.text = fail, 503, codeUnavailable, "" }, ""},
			"Refused":     {func(s *sample, e *Entry) { e.Verdict, e.Status, e.text = fail, 503, ""; delete(s.Outcomes, e.ID) }, ""},
		},
		OneGeneration: {
			"Gap":      {func(_ *sample, e *Entry) { e.text = pieces(e.Prompt.ID, "g1", 0, 2) }, "comes where 1 is due"},
			"Repeat":   {func(_ *sample, e *Entry) { e.text = pieces(e.Prompt.ID, "g1", 0, 0, 1, 2) }, "comes where 1 is due"},
			"Mixed":    {func(_ *sample, e *Entry) { e.text = pieces(e.Prompt.ID, "g1", 0) + pieces(e.Prompt.ID, "g2", 1, 2) }, "is not of generation g1"},
			"Stranger": {func(_ *sample, e *Entry) { e.text = pieces("b", "g1", 0) }, "another request's"},
			"RealGap": {func(_ *sample, e *Entry) {
				e.Prompt.Want, e.Prompt.N, e.text = "one two three", 13, "one three"
			}, `text "one three" is not the beginning`},
			"RealCut":       {func(_ *sample, e *Entry) { e.Prompt.Want, e.Prompt.N, e.text = "one two", 7, "one" }, "with 3 pieces of 7"},
			"Rubbish":       {func(_ *sample, e *Entry) { e.text = "hello" }, "of no generation"},
			"Cut":           {func(_ *sample, e *Entry) { e.text = pieces(e.Prompt.ID, "g1", 0, 1) }, "with 2 pieces of 3"},
			"Silent":        {func(_ *sample, e *Entry) { e.text, e.Verdict = pieces(e.Prompt.ID, "g1", 0), silent }, "without an error"},
			"Invented":      {func(s *sample, _ *Entry) { s.Generations = s.Generations[1:] }, "no engine has generated"},
			"EngineKilled":  {func(s *sample, _ *Entry) { s.Generations, s.Faults = s.Generations[1:], touched(s) }, ""},
			"Broken":        {func(_ *sample, e *Entry) { e.Verdict = Broken }, "though no gateway was touched"},
			"BrokenByOther": {func(s *sample, e *Entry) { e.Verdict, s.Faults = Broken, touched(s) }, "though no gateway was touched"},
			"BrokenByFault": {func(s *sample, e *Entry) { e.Verdict, s.Gateways = Broken, touched(s) }, ""},
			"BrokenLater": {func(s *sample, e *Entry) {
				e.Verdict, s.Gateways = Broken, []Span{{s.now.Add(time.Minute), s.now.Add(2 * time.Minute)}}
			}, "though no gateway was touched"},
		},
		NothingLost: {
			"Lost":   {func(s *sample, e *Entry) { delete(s.Outcomes, e.ID) }, "has no outcome"},
			"Queued": {func(s *sample, _ *Entry) { s.Queued = 1 }, "still queued"},
		},
		StopsComputing: {
			"Computed":  {func(s *sample, _ *Entry) { s.Generations[1].Pieces = 100 }, "all 100 were computed"},
			"Completed": {func(s *sample, _ *Entry) { s.Outcomes[s.Entries[1].ID][0].State = queue.Completed }, "the outcome is completed"},
			"Short":     {func(s *sample, _ *Entry) { s.Generations[1].Pieces, s.Entries[1].Prompt.Every = 100, time.Millisecond }, ""},
			"Disturbed": {func(s *sample, _ *Entry) { s.Generations[1].Pieces, s.Faults = 100, touched(s) }, ""},
		},
		TenantsIsolated: {
			"Mark": {func(s *sample, e *Entry) { e.Received = append(e.Received, s.bold.Mark...) }, "something of tenant bold"},
			"MarkInRefusal": {func(s *sample, e *Entry) {
				e.Verdict, e.Status, e.text, e.Received = fail, 503, "", []byte("behind "+s.bold.Mark)
				delete(s.Outcomes, e.ID)
			}, "something of tenant bold"},
			"Id":        {func(s *sample, e *Entry) { e.Received = append(e.Received, s.Entries[1].ID...) }, "the id of bold-2-0"},
			"SameID":    {func(s *sample, e *Entry) { s.Entries[1].ID = e.ID; s.Entries[1].Received = nil }, "have the same id"},
			"Probe":     {func(s *sample, _ *Entry) { s.Probes[0].Received = []byte("look: " + s.amber.Mark) }, "got something of amber by GET /it"},
			"Found":     {func(s *sample, _ *Entry) { s.Probes[0].Status = 200 }, "got 200 for GET /it, which is amber's"},
			"Redirect":  {func(s *sample, _ *Entry) { s.Probes[0].Status = 302 }, "got 302 for GET /it, which is amber's"},
			"Listing":   {func(s *sample, _ *Entry) { s.Probes[0].MustRefuse, s.Probes[0].Status = false, 200 }, ""},
			"NoAnswer":  {func(s *sample, _ *Entry) { s.Probes[0].Status = 0 }, ""},
			"Forbidden": {func(s *sample, _ *Entry) { s.Probes[0].Status = 403 }, ""},
		},
		NoStarvation: {
			"FirstComeFirstServed": {func(s *sample, _ *Entry) { s.serve("aaaaaaaabb") }, "request 1 of tenant bold was served after 8 of tenant amber"},
			"Late":                 {func(s *sample, _ *Entry) { s.serve("aaaabb") }, "request 1 of tenant bold was served after 4"},
			"SlowlyLater":          {func(s *sample, _ *Entry) { s.serve("aabaabaabaab") }, "request 4 of tenant bold was served after 8"},
			"Never":                {func(s *sample, _ *Entry) { s.serve("ab"); s.Generations = s.Generations[:len(s.Generations)-1] }, "and 1 were served"},
			"ABitLate":             {func(s *sample, _ *Entry) { s.serve("aaabbaba") }, ""},
			"Alone":                {func(s *sample, _ *Entry) { s.serve("baaaaaaaa") }, ""},
		},
		withinSlots: {
			"TooMany":      {func(s *sample, _ *Entry) { s.overlap(3, "7-1", "7-2", "7-3", "7-4") }, "engine 7 computed 4 requests at the same time"},
			"JustAll":      {func(s *sample, _ *Entry) { s.overlap(4, "7-1", "7-2", "7-3", "7-4") }, ""},
			"OtherEngines": {func(s *sample, _ *Entry) { s.overlap(2, "7-1", "7-2", "8-1", "8-2") }, ""},
			"CutOff": {func(s *sample, _ *Entry) {
				s.overlap(1, "7-1", "7-2")
				s.Generations[len(s.Generations)-1].Whole = false
			}, ""},
			"OneAfterTheOther": {func(s *sample, _ *Entry) {
				s.overlap(1, "7-1", "7-2")
				last := &s.Generations[len(s.Generations)-1]
				last.Began, last.Ended = last.Ended, last.Ended.Add(time.Second)
			}, ""},
			"Disturbed": {func(s *sample, _ *Entry) { s.overlap(1, "7-1", "7-2"); s.Faults = touched(s) }, ""},
		},
		WholeModels: {
			"Wrong":     {func(s *sample, _ *Entry) { s.Models[1].Wrong = errors.New("a byte differs") }, "now: a byte differs"},
			"Other":     {func(s *sample, _ *Entry) { s.Models[1].Files = map[string]string{"a": "2"} }, "want map[a:1]"},
			"Missing":   {func(s *sample, _ *Entry) { s.Models[1].Files = map[string]string{} }, "want map[a:1]"},
			"NoneLast":  {func(s *sample, _ *Entry) { s.Models[1].Ready = false }, "there is no manifest"},
			"NoneFirst": {func(s *sample, _ *Entry) { s.Models[1].Ready, s.Models[1].Last = false, false }, ""},
		},
	}
	for _, g := range guarantees() {
		for name, c := range cases[g] {
			t.Run(name, func(t *testing.T) {
				s := newSample()
				c.spoil(s, &s.Entries[0])
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
