package names_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/names"
)

// TestSubjectsAndKeys holds the wire format: peers of another version read and
// write the same names.
func TestSubjectsAndKeys(t *testing.T) {
	cases := map[string]struct{ got, want string }{
		"Request":       {names.RequestSubject("s", "t"), "koldun.v1.req.s.t"},
		"Outcome":       {names.OutcomeSubject("s", "t"), "koldun.v1.end.s.t"},
		"OutcomeOf":     {names.OutcomeOf("s", "t", "r"), "koldun.v1.end.s.t.r"},
		"DeadOf":        {names.DeadOf("s", "t", "r"), "koldun.v1.dead.s.t.r"},
		"Frames":        {names.FramesSubject("s", "r"), "koldun.v1.out.s.r"},
		"Assign":        {names.AssignSubject("s", "run"), "koldun.v1.run.s.run"},
		"Cancel":        {names.CancelSubject("s", "r"), "koldun.v1.cancel.s.r"},
		"End":           {names.EndSubject("s"), "koldun.v1.done.s"},
		"Sync":          {names.SyncSubject("s", "run"), "koldun.v1.sync.s.run"},
		"FirstToken":    {names.FirstTokenSubject("s"), "koldun.v1.mark.s"},
		"Resume":        {names.ResumeSubject("s", "r"), "koldun.v1.resume.s.r"},
		"Depth":         {names.DepthSubject("s"), "koldun.v1.depth.s"},
		"Drain":         {names.DrainSubject("s", "run"), "koldun.v1.drain.s.run"},
		"Use":           {names.UseSubject("ns"), "koldun.v1.use.ns"},
		"UseStrange":    {names.UseSubject("a.b"), "koldun.v1.use." + names.Join(63, "a.b")},
		"ModelKey":      {names.ModelKey("ns", "m"), "model/ns/m"},
		"TokenKey":      {names.TokenKey("00ff"), "token/00ff"},
		"SlotKey":       {names.SlotKey("ns", 7), "slot.ns.7"},
		"RunnerKey":     {names.RunnerKey("s", "run"), "s.run"},
		"ProgressKey":   {names.ProgressKey("ns", "a", "fetch"), "ns/a/fetch"},
		"PoolKey":       {names.PoolKey("s", "id"), "s." + names.Hash(16, "id")},
		"Member":        {names.Member("s", "2"), "s-2"},
		"Root":          {names.Root("d"), "d-root"},
		"Runner":        {names.Runner("ns", "d-root-0"), "ns_d-root-0"},
		"MemberRunner":  {names.MemberRunner("ns", "s", "2"), "ns_s-2-root-0"},
		"ModelFile":     {names.ModelFile("m", "q40"), "dllama_model_m_q40.m"},
		"TokenizerFile": {names.TokenizerFile("m"), "dllama_tokenizer_m.t"},
		"PortRef":       {names.PortRef("engine-health"), "$(KOLDUN_PORT_ENGINE_HEALTH)"},
		"DirRef":        {names.DirRef("model"), "$(KOLDUN_DIR_MODEL)"},
		"Hash":          {names.Hash(8, "a", "b"), "59b271ae"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got %q, want %q", c.got, c.want)
			}
		})
	}
}

func TestSessionOf(t *testing.T) {
	shared := names.Session("ns", "m", "")
	for key, want := range map[string]bool{
		shared:                            true,
		names.Session("ns", "m", "token"): true,
		shared + "_0123456789abcdef":      true,
		shared + "_0123456789abcde":       false,
		shared + "_0123456789abcdef0":     false,
		shared + "_0123456789abcdeg":      false,
		shared + "0123456789abcdef":       false,
		shared + "_":                      false,
		"":                                false,
		names.Session("ns", "other", ""):  false,
		names.Session("other", "m", ""):   false,
		"other_" + shared:                 false,
	} {
		if got := names.SessionOf(key, shared); got != want {
			t.Errorf("SessionOf(%q, %q) = %v, want %v", key, shared, got, want)
		}
	}
}

func TestSlotKeysMatchSlotKey(t *testing.T) {
	prefix, ok := strings.CutSuffix(names.SlotKeys, ">")
	if !ok || !strings.HasPrefix(names.SlotKey("ns", 1), prefix) {
		t.Errorf("SlotKeys is %q, which does not match %q", names.SlotKeys, names.SlotKey("ns", 1))
	}
}

// TestStreams compares with the limits that docs/reference/streams.md lists.
func TestStreams(t *testing.T) {
	captured := map[string]string{
		names.RequestStream: names.RequestSubject("s", "t"),
		names.OutcomeStream: names.OutcomeOf("s", "t", "r"),
		names.DeadStream:    names.DeadOf("s", "t", "r"),
	}
	want := map[string]names.Stream{
		names.RequestStream: {MaxAge: 24 * time.Hour, MaxBytes: 256 << 20, MaxMsgs: 20_000, MaxMsgSize: 8 << 20, MaxPerSubject: 10_000, DiscardNew: true, Dedupe: 10 * time.Minute},
		names.OutcomeStream: {MaxAge: 72 * time.Hour, MaxBytes: 128 << 20},
		names.DeadStream:    {MaxAge: 7 * 24 * time.Hour, MaxBytes: 64 << 20, MaxPerSubject: 1},
	}
	for _, s := range names.Streams() {
		w := want[s.Name]
		delete(want, s.Name)
		if s.MaxAge != w.MaxAge || s.MaxBytes != w.MaxBytes || s.MaxMsgs != w.MaxMsgs || s.MaxMsgSize != w.MaxMsgSize ||
			s.MaxPerSubject != w.MaxPerSubject || s.DiscardNew != w.DiscardNew || s.Dedupe != w.Dedupe {
			t.Errorf("stream %q is %+v, want %+v", s.Name, s, w)
		}
		prefix, ok := strings.CutSuffix(s.Subjects[0], ">")
		if len(s.Subjects) != 1 || !ok || !strings.HasPrefix(captured[s.Name], prefix) || s.Description == "" {
			t.Errorf("stream %q captures %q, want it to capture %q and to have a description", s.Name, s.Subjects, captured[s.Name])
		}
	}
	if len(want) > 0 {
		t.Errorf("there are no streams %v", want)
	}
}

func TestBuckets(t *testing.T) {
	want := map[string]time.Duration{
		names.ModelsBucket: 0, names.TokensBucket: 0, names.ProgressBucket: 0, names.DemandBucket: time.Minute,
		names.RunnersBucket: time.Minute, names.LeasesBucket: time.Minute, names.PoolsBucket: time.Minute,
	}
	for _, b := range names.Buckets() {
		markers, known := want[b.Name]
		delete(want, b.Name)
		if !known || b.Markers != markers || b.Description == "" {
			t.Errorf("bucket %q has markers for %v, want %v and a description", b.Name, b.Markers, markers)
		}
	}
	if len(want) > 0 {
		t.Errorf("there are no buckets %v", want)
	}
	if b := names.Responses(); b.Name != names.ResponsesBucket || b.Markers != time.Minute || b.Description == "" {
		t.Errorf("the bucket of responses is %+v", b)
	}
}
