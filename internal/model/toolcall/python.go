package toolcall

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gorizond/koldun/internal/openai"
)

// A pythonicBlock reads a list of calls in Python, whose arguments are literals.
type pythonicBlock struct {
	p      *Parser
	parsed bool
	calls  []pythonCall // that are left
	open   bool
	seen   int // bytes that did not make a list
}

type pythonCall struct{ name, arguments string }

func (b *pythonicBlock) read(in []byte) (int, verdict) {
	if b.parsed {
		return b.next(in)
	}
	n := spaces(in)
	// Only a bracket can end the list; and until the first parenthesis, only the name
	// of a tool can follow.
	if n == len(in) || b.seen > 0 && !bytes.ContainsAny(in[min(b.seen, len(in)):], "])") {
		b.seen = len(in)
		return 0, more
	}
	r := python{in: in[n:], known: func(name string) bool { _, ok := b.p.tools[name]; return ok }}
	calls, v := r.list()
	switch v {
	case done:
		b.parsed, b.calls = true, calls
		return n + r.at, between
	case more:
		if bytes.ContainsAny(in, "(") {
			b.seen = len(in)
		}
		return 0, more
	}
	return 0, broken
}

// next passes on a call.
func (b *pythonicBlock) next(in []byte) (int, verdict) {
	switch {
	case b.open:
		b.p.arguments([]byte(b.calls[0].arguments))
		b.calls, b.open = b.calls[1:], false
		return 0, ended
	case len(b.calls) > 0:
		b.open = b.p.start(b.calls[0].name)
		return 0, began
	}
	n := spaces(in)
	switch literal(in[n:], pythonicEnd) {
	case 0:
		return n + len(pythonicEnd), done
	case undecided:
		return 0, more
	}
	return 0, done
}

// A python reads Python literals as JSON.
type python struct {
	in    []byte
	at    int
	known func(string) bool
	depth int
}

// list reads [f(a=1), g()].
func (r *python) list() (calls []pythonCall, v verdict) {
	if v = r.expect('['); v != done {
		return nil, v
	}
	for {
		name, v := r.name()
		if v != done {
			return nil, v
		}
		if !r.known(name) {
			return nil, broken
		}
		args, v := r.items('(', ')', '=', r.name)
		if v != done {
			return nil, v
		}
		calls = append(calls, pythonCall{name, "{" + args + "}"})
		if r.space() {
			return nil, more
		}
		switch r.in[r.at] {
		case ',':
			r.at++
		case ']':
			r.at++
			return calls, done
		default:
			return nil, broken
		}
	}
}

// space skips spaces, and reports whether nothing follows.
func (r *python) space() bool {
	r.at += spaces(r.in[r.at:])
	return r.at == len(r.in)
}

func (r *python) expect(c byte) verdict {
	if r.space() {
		return more
	}
	if r.in[r.at] != c {
		return broken
	}
	r.at++
	return done
}

// name reads a name with dots.
func (r *python) name() (string, verdict) {
	if r.space() {
		return "", more
	}
	from := r.at
	for r.at < len(r.in) && (isWordByte(r.in[r.at]) || r.in[r.at] == '_') && r.in[r.at] != '+' {
		r.at++
	}
	switch {
	case r.at == len(r.in):
		return "", more
	case r.at == from:
		return "", broken
	}
	return string(r.in[from:r.at]), done
}

// items reads pairs between two brackets, and returns the members of an object.
func (r *python) items(open, end, sep byte, key func() (string, verdict)) (string, verdict) {
	if v := r.expect(open); v != done {
		return "", v
	}
	var out strings.Builder
	for {
		if r.space() {
			return "", more
		}
		if r.in[r.at] == end {
			r.at++
			return out.String(), done
		}
		k, v := key()
		if v != done {
			return "", v
		}
		if v := r.expect(sep); v != done {
			return "", v
		}
		value, v := r.value()
		if v != done {
			return "", v
		}
		if out.Len() > 0 {
			out.WriteString(", ")
		}
		out.WriteString(quote(k) + ": " + value)
		if v := r.separator(end); v != done {
			return "", v
		}
	}
}

// separator reads a comma, or leaves the closing bracket.
func (r *python) separator(end byte) verdict {
	if r.space() {
		return more
	}
	switch r.in[r.at] {
	case ',':
		r.at++
		return done
	case end:
		return done
	}
	return broken
}

// value reads a literal.
func (r *python) value() (string, verdict) {
	if r.depth++; r.depth > maxDepth {
		return "", broken
	}
	defer func() { r.depth-- }()
	if r.space() {
		return "", more
	}
	switch c := r.in[r.at]; c {
	case '\'', '"':
		s, v := r.text()
		return quote(s), v
	case '[':
		return r.array('[', ']')
	case '(':
		return r.array('(', ')')
	case '{':
		members, v := r.items('{', '}', ':', r.key)
		return "{" + members + "}", v
	}
	word, v := r.name()
	if v != done {
		return "", v
	}
	switch word {
	case "True", "true":
		return "true", done
	case "False", "false":
		return "false", done
	case "None", "null":
		return "null", done
	}
	if !json.Valid([]byte(word)) {
		f, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return "", broken
		}
		if word = strconv.FormatFloat(f, 'g', -1, 64); !json.Valid([]byte(word)) {
			return "", broken // infinite
		}
	}
	return word, done
}

func (r *python) key() (string, verdict) {
	if r.space() {
		return "", more
	}
	if c := r.in[r.at]; c != '\'' && c != '"' {
		return "", broken
	}
	return r.text()
}

func (r *python) array(open, end byte) (string, verdict) {
	if v := r.expect(open); v != done {
		return "", v
	}
	var items []string
	for {
		if r.space() {
			return "", more
		}
		if r.in[r.at] == end {
			r.at++
			return "[" + strings.Join(items, ", ") + "]", done
		}
		item, v := r.value()
		if v != done {
			return "", v
		}
		items = append(items, item)
		if v := r.separator(end); v != done {
			return "", v
		}
	}
}

// text reads a string.
func (r *python) text() (string, verdict) {
	quoted := r.in[r.at]
	r.at++
	var out strings.Builder
	for r.at < len(r.in) {
		c := r.in[r.at]
		r.at++
		switch c {
		case quoted:
			return out.String(), done
		case '\\':
			if v := r.escape(&out); v != done {
				return "", v
			}
		default:
			out.WriteByte(c)
		}
	}
	return "", more
}

func (r *python) escape(out *strings.Builder) verdict {
	if r.at == len(r.in) {
		return more
	}
	c := r.in[r.at]
	r.at++
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	switch {
	case digits > 0:
		if len(r.in)-r.at < digits {
			return more
		}
		code, err := strconv.ParseUint(string(r.in[r.at:r.at+digits]), 16, 32)
		if err != nil || code > utf8.MaxRune {
			return broken
		}
		r.at += digits
		out.WriteRune(rune(code))
	case strings.IndexByte("abfnrtv", c) >= 0:
		out.WriteByte("\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", c)])
	case c == '\n': // continues the line
	case c == '\\' || c == '\'' || c == '"':
		out.WriteByte(c)
	default:
		out.WriteByte('\\')
		out.WriteByte(c)
	}
	return done
}

func quote(s string) string {
	out, _ := openai.Encode(strings.ToValidUTF8(s, "\uFFFD")) // a string can always be encoded
	return string(out)
}
