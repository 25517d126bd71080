package distributedllama

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/gorizond/koldun/internal/engine"
)

// Around a prompt and its completion dllama-api writes textBegin before the
// prompt, and textEnd and a line feed after the completion.
const (
	textBegin = "\U0001F539" // small blue diamond
	textEnd   = "\U0001F536" // large orange diamond
)

// A lineShape matches a whole line that may be logged as it is: it holds no
// words but the engine's own.
type lineShape struct {
	re   *regexp.Regexp
	kind engine.EventKind
}

// patterns are compiled when the first line is read: most programs that know
// the engine read none.
type patterns struct {
	// shapes are free of users' text. Their classes of characters stand for
	// what the engine itself writes, and never for a run of anything, except in
	// facts about files that come before any prompt is read.
	shapes []lineShape
	// prediction is the harmless first part of the line that "dllama inference"
	// writes for a generated token, which follows.
	prediction *regexp.Regexp
	// jsonError is the JSON parser's name of its exception; a quotation of the
	// request follows.
	jsonError *regexp.Regexp
	// ownError is an error in the engine's own words, which may name a file.
	ownError *regexp.Regexp
}

var compiled = sync.OnceValue(func() patterns { //nolint:gochecknoglobals // compiled once, never changed
	return patterns{
		shapes: []lineShape{
			{regexp.MustCompile(`^Listening on [0-9A-Za-z.:\-]{1,80}\.\.\.$`), engine.EventListening},
			{regexp.MustCompile(`^⭕ The root node has connected$`), engine.EventPeer},
			{regexp.MustCompile(`^💿 Loading weights\.\.\.$`), engine.EventPeer},
			{regexp.MustCompile(`^💿 Loaded (\d{1,9})/(\d{1,9})$`), engine.EventLayer},
			{regexp.MustCompile(`^💿 Loaded +[a-z0-9_]{1,40} +\d{1,9}, +\d{1,12} kB$`), engine.EventTensor},
			{regexp.MustCompile(`^💿 Weights loaded$`), engine.EventWeights},
			{regexp.MustCompile(`^⭕ Network is closed$`), engine.EventEnd},
			{regexp.MustCompile(`^🛑 Stop signal$`), engine.EventEnd},
			{regexp.MustCompile(`^⭕ Socket\[\d{1,4}\]: (connecting to [0-9A-Za-z.:\-]{1,300} worker|connected|[a-z ]{1,60})$`), engine.EventNone},
			{regexp.MustCompile(`^⭕ Network is initialized$`), engine.EventNone},
			{regexp.MustCompile(`^⭕ n?N(odes|odeIndex): \d{1,4}$`), engine.EventNone},
			{regexp.MustCompile(`^📀 RequiredMemory: \d{1,12} [kM]B$`), engine.EventNone},
			{regexp.MustCompile(`^🧠 CPU:[a-z0-9_ ]{0,120}$`), engine.EventNone},
			{regexp.MustCompile(`^🚁 Network is in (non-)?blocking mode$`), engine.EventNone},
			{regexp.MustCompile(`^(📄|💡) [A-Za-z]{1,30}: [0-9A-Za-z.]{1,40}( layers)?$`), engine.EventNone},
			{regexp.MustCompile(`^⭐ Chat template: [a-zA-Z0-9]{1,20}$`), engine.EventNone},
			{regexp.MustCompile(`^Server URL: http://[0-9a-z.:]{1,80}/v1/$`), engine.EventNone},
			{regexp.MustCompile(`^🐤 Found naive cache for \d{1,9} messages, pos=\d{1,9}$`), engine.EventNone},
			{regexp.MustCompile(`^🔷 (GET|POST|PUT|DELETE|OPTIONS|UNKNOWN) /v1/(chat/completions|models)$`), engine.EventNone},
			{regexp.MustCompile(`^🔄 Retrying in \d{1,3} seconds\.\.\.$`), engine.EventEnd},
			{regexp.MustCompile(`^🚨 (Network|Execution|Inference|Socket) error: (Socket closed|Connection reset by peer|Broken pipe|Connection refused|Connection timed out)$`), engine.EventNone},
			{regexp.MustCompile(`^🚨 Inference error[a-z ,.]{0,60}$`), engine.EventNone},
			{regexp.MustCompile(`^Socket error: \d{1,4} Error (writing to|reading from) socket$`), engine.EventNone},
			{regexp.MustCompile(`^Cannot connect to [0-9A-Za-z.:\-]{1,300}[a-zA-Z() ]{0,80}$`), engine.EventNone},
			{regexp.MustCompile(`^terminate called after throwing an instance of '[A-Za-z0-9_:<>, ]{1,160}'$`), engine.EventNone},
			{regexp.MustCompile(`^\S{1,80}: src/[a-z0-9/_.\-]{1,80}:\d{1,6}: .{1,300} Assertion .{1,200} failed\.$`), engine.EventNone},
		},
		prediction: regexp.MustCompile(`^🔶 Pred +\d+ ms Sync +\d+ ms \| Sent +\d+ kB Recv +\d+ kB \|`),
		jsonError:  regexp.MustCompile(`^  what\(\): +(\[json\.exception\.[a-z_.0-9]{1,60}\])`),
		ownError:   regexp.MustCompile(`^(  what\(\): +|🚨 Critical error: ).{1,200}$`),
	}
})

// resumes reports whether dllama-api writes the line after a completion that
// broke off.
func resumes(line []byte) bool {
	s := strings.TrimRight(string(line), "\r")
	if !strings.HasPrefix(s, "🔷 ") && !strings.HasPrefix(s, "🔄 ") && !strings.HasPrefix(s, "🚨 Inference error") {
		return false
	}
	_, known := match(s)
	return known
}

// classify reads a line. Of a root's lines only those may be logged that are
// known to hold no text of users; workers see no such text, so theirs are
// logged whatever they hold.
func classify(r engine.Role, line string) (shown string, e engine.Event, ok bool) {
	line = strings.TrimRight(line, "\r")
	e, known := match(line)
	switch {
	case known, r == engine.RoleWorker:
		return clean(line), e, true
	case compiled().jsonError.MatchString(line):
		return "  what():  " + compiled().jsonError.FindStringSubmatch(line)[1], e, true
	case compiled().ownError.MatchString(line):
		return clean(line), e, true
	}
	if head := compiled().prediction.FindString(line); head != "" {
		return head, e, true
	}
	return "", e, false
}

func match(line string) (engine.Event, bool) {
	for _, s := range compiled().shapes {
		m := s.re.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		e := engine.Event{Kind: s.kind}
		if s.kind == engine.EventLayer {
			e.Loaded, _ = strconv.Atoi(m[1]) // at most nine digits
			e.Total, _ = strconv.Atoi(m[2])
		}
		return e, true
	}
	return engine.Event{}, false
}

// clean replaces characters that would act on a terminal, and invalid UTF-8.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsGraphic(r) || r == '\ufe0f' {
			return r
		}
		return '\ufffd'
	}, strings.ToValidUTF8(s, "\ufffd"))
}
