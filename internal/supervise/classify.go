package supervise

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// An eventKind is what a line says about the state.
type eventKind int

const (
	sawNothing   eventKind = iota
	sawListening           // a port is listened on
	sawPeer                // a root has come, or a root has begun to load
	sawLayer               // a root has shipped a layer: loaded of total
	sawTensor              // a worker has got its part of a tensor
	sawWeights             // all weights are there
	sawEnd                 // the session is over
)

type event struct {
	kind          eventKind
	loaded, total int
}

// A shape is a line that distributed-llama writes, in whole. Those without
// words that others chose may be copied as they are.
type shape struct {
	re   *regexp.Regexp
	kind eventKind
}

// shapes that are free of text. Words stand for what the engine itself says,
// and never for a run of anything, except in facts about files that come
// before any prompt is read.
var shapes = []shape{ //nolint:gochecknoglobals // compiled once, never changed
	{regexp.MustCompile(`^Listening on [0-9A-Za-z.:\-]{1,80}\.\.\.$`), sawListening},
	{regexp.MustCompile(`^⭕ The root node has connected$`), sawPeer},
	{regexp.MustCompile(`^💿 Loading weights\.\.\.$`), sawPeer},
	{regexp.MustCompile(`^💿 Loaded (\d{1,9})/(\d{1,9})$`), sawLayer},
	{regexp.MustCompile(`^💿 Loaded +[a-z0-9_]{1,40} +\d{1,9}, +\d{1,12} kB$`), sawTensor},
	{regexp.MustCompile(`^💿 Weights loaded$`), sawWeights},
	{regexp.MustCompile(`^⭕ Network is closed$`), sawEnd},
	{regexp.MustCompile(`^🛑 Stop signal$`), sawEnd},
	{regexp.MustCompile(`^⭕ Socket\[\d{1,4}\]: (connecting to [0-9A-Za-z.:\-]{1,300} worker|connected|[a-z ]{1,60})$`), sawNothing},
	{regexp.MustCompile(`^⭕ Network is initialized$`), sawNothing},
	{regexp.MustCompile(`^⭕ n?N(odes|odeIndex): \d{1,4}$`), sawNothing},
	{regexp.MustCompile(`^📀 RequiredMemory: \d{1,12} [kM]B$`), sawNothing},
	{regexp.MustCompile(`^🧠 CPU:[a-z0-9_ ]{0,120}$`), sawNothing},
	{regexp.MustCompile(`^🚁 Network is in (non-)?blocking mode$`), sawNothing},
	{regexp.MustCompile(`^(📄|💡) [A-Za-z]{1,30}: [0-9A-Za-z.]{1,40}( layers)?$`), sawNothing},
	{regexp.MustCompile(`^⭐ Chat template: [a-zA-Z0-9]{1,20}$`), sawNothing},
	{regexp.MustCompile(`^Server URL: http://[0-9a-z.:]{1,80}/v1/$`), sawNothing},
	{regexp.MustCompile(`^🐤 Found naive cache for \d{1,9} messages, pos=\d{1,9}$`), sawNothing},
	{regexp.MustCompile(`^🔷 (GET|POST|PUT|DELETE|OPTIONS|UNKNOWN) /v1/(chat/completions|models)$`), sawNothing},
	{regexp.MustCompile(`^🔄 Retrying in \d{1,3} seconds\.\.\.$`), sawEnd},
	{regexp.MustCompile(`^🚨 (Network|Execution|Inference|Socket) error: (Socket closed|Connection reset by peer|Broken pipe|Connection refused|Connection timed out)$`), sawNothing},
	{regexp.MustCompile(`^🚨 Inference error[a-z ,.]{0,60}$`), sawNothing},
	{regexp.MustCompile(`^Socket error: \d{1,4} Error (writing to|reading from) socket$`), sawNothing},
	{regexp.MustCompile(`^Cannot connect to [0-9A-Za-z.:\-]{1,300}[a-zA-Z() ]{0,80}$`), sawNothing},
	{regexp.MustCompile(`^terminate called after throwing an instance of '[A-Za-z0-9_:<>, ]{1,160}'$`), sawNothing},
	{regexp.MustCompile(`^\S{1,80}: src/[a-z0-9/_.\-]{1,80}:\d{1,6}: .{1,300} Assertion .{1,200} failed\.$`), sawNothing},
}

// Prefixes of lines of which a first part is known to be harmless.
var (
	// prediction is a generated token's line of "dllama inference"; the token follows.
	prediction = regexp.MustCompile(`^🔶 Pred +\d+ ms Sync +\d+ ms \| Sent +\d+ kB Recv +\d+ kB \|`) //nolint:gochecknoglobals // compiled once
	// The parser of JSON names its exception, and then quotes the request.
	jsonError = regexp.MustCompile(`^  what\(\): +(\[json\.exception\.[a-z_.0-9]{1,60}\])`) //nolint:gochecknoglobals // compiled once
	// Other errors are in the engine's own words, and may name a file.
	ownError = regexp.MustCompile(`^(  what\(\): +|🚨 Critical error: ).{1,200}$`) //nolint:gochecknoglobals // compiled once
)

// resumes reports whether a line is one that dllama-api begins anew with after
// a completion that broke off.
func resumes(line []byte) bool {
	s := strings.TrimRight(string(line), "\r")
	if !strings.HasPrefix(s, "🔷 ") && !strings.HasPrefix(s, "🔄 ") && !strings.HasPrefix(s, "🚨 Inference error") {
		return false
	}
	_, known := match(s)
	return known
}

// classify reads a line of a process: what it says, and what of it may be
// copied. Of a root only what is known to be free of text may, ok is false if
// nothing may. Workers see no text, so that theirs are copied whatever they
// say.
func classify(r Role, line string) (shown string, e event, ok bool) {
	line = strings.TrimRight(line, "\r")
	e, known := match(line)
	switch {
	case known, r == Worker:
		return clean(line), e, true
	case jsonError.MatchString(line):
		return "  what():  " + jsonError.FindStringSubmatch(line)[1], e, true
	case ownError.MatchString(line):
		return clean(line), e, true
	}
	if head := prediction.FindString(line); head != "" {
		return head, e, true
	}
	return "", e, false
}

func match(line string) (event, bool) {
	for _, s := range shapes {
		m := s.re.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		e := event{kind: s.kind}
		if s.kind == sawLayer {
			e.loaded, _ = strconv.Atoi(m[1]) // at most nine digits
			e.total, _ = strconv.Atoi(m[2])
		}
		return e, true
	}
	return event{}, false
}

// clean replaces what would act on a terminal or is no UTF-8.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsGraphic(r) || r == '\ufe0f' {
			return r
		}
		return '\ufffd'
	}, strings.ToValidUTF8(s, "\ufffd"))
}
