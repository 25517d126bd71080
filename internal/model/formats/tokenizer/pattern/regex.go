package pattern

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gorizond/koldun/internal/fault"
)

// Regex compiles a regular expression of the Oniguruma library, as tokenizers
// use them, to Go's. Go's needs linear time for any expression, and lacks
// lookahead. Tokenizers use one lookahead, \s+(?!\S)|\s+, which matches a run of
// spaces but for the last one if a word follows; Find cuts such matches itself.
// The error is Unsupported if Go cannot express the rest, as for other
// lookaheads, possessive repetitions and nested classes.
func Regex(source string) (Pattern, error) {
	if len(source) > maxSource {
		return nil, fault.Errorf(fault.Unsupported, "the regular expression has %d bytes, want at most %d", len(source), maxSource)
	}
	translated, err := translate(source)
	if err != nil {
		return nil, fault.Errorf(fault.Unsupported, "regular expression %q: %w", abridged(source), err)
	}
	re, err := regexp.Compile(translated)
	if err != nil {
		return nil, fault.Errorf(fault.Unsupported, "regular expression %q: %w", abridged(source), err)
	}
	if re.MatchString("") {
		return nil, fault.Errorf(fault.Unsupported, "regular expression %q matches the empty text", abridged(source))
	}
	return &regex{re: re, run: re.SubexpIndex(runGroup)}, nil
}

type regex struct {
	re  *regexp.Regexp
	run int // number of the group of spaces that Find cuts, or -1
}

// Find returns the matches, each from the end of the one before.
func (p *regex) Find(text string) []Match {
	var out []Match
	for at := 0; at < len(text); {
		m := p.re.FindStringSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		start, end := at+m[0], at+m[1]
		if p.run >= 0 && m[2*p.run] >= 0 {
			end = cutRun(text, start, end)
		}
		out = append(out, Match{start, end})
		at = end
	}
	return out
}

// cutRun leaves the last of several spaces to the word that follows. The spaces
// of a match are all that there are, as the repetition is greedy.
func cutRun(text string, start, end int) int {
	if end == len(text) {
		return end
	}
	_, size := utf8.DecodeLastRuneInString(text[start:end])
	if start+size == end {
		return end
	}
	return end - size
}

const (
	runGroup  = "run"
	lookahead = `\s+(?!\S)|\s+`
	spaces    = `\t-\r \x{85}\p{Z}`            // \s in Unicode, within a class
	wordChars = `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}` // \w in Unicode, within a class
)

// translate rewrites what the two libraries write or read differently.
func translate(source string) (string, error) {
	var out strings.Builder
	class := false
	for at := 0; at < len(source); at++ {
		rest := source[at:]
		switch c := source[at]; {
		case !class && strings.HasPrefix(rest, lookahead) && alternative(source, at, at+len(lookahead)):
			out.WriteString("(?P<" + runGroup + ">[" + spaces + "]+)")
			at += len(lookahead) - 1
		case c == '\\':
			if len(rest) < 2 {
				return "", fault.Errorf(fault.Unsupported, "it ends in a backslash")
			}
			text, n, err := escape(rest, class)
			if err != nil {
				return "", err
			}
			out.WriteString(text)
			at += n - 1
		case class && (c == '[' || strings.HasPrefix(rest, "&&")):
			return "", fault.Errorf(fault.Unsupported, "it has a class within a class")
		case class:
			class = c != ']'
			out.WriteByte(c)
		case c == '[':
			class = true
			n := 1
			for n < len(rest) && (rest[n] == '^' && n == 1 || rest[n] == ']') { // here these do not end the class
				n++
			}
			out.WriteString(rest[:n])
			at += n - 1
		case c == '^':
			return "", fault.Errorf(fault.Unsupported, "it is bound to the beginning of a line")
		case c == '$':
			out.WriteString("(?m:$)")
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), nil
}

// alternative reports whether source[start:end] is an alternative of the whole
// expression: nothing repeats it, and no group holds it.
func alternative(source string, start, end int) bool {
	return (start == 0 || source[start-1] == '|') && (end == len(source) || source[end] == '|')
}

// escape translates the escape sequence that s begins with, and returns its
// length.
func escape(s string, class bool) (text string, n int, err error) {
	of := func(chars string) string {
		if class {
			return chars
		}
		return "[" + chars + "]"
	}
	switch c := s[1]; c {
	case 's':
		return of(spaces), 2, nil
	case 'w':
		return of(wordChars), 2, nil
	case 'd':
		return `\p{Nd}`, 2, nil
	case 'S', 'W':
		if class {
			return "", 0, fault.Errorf(fault.Unsupported, "it has \\%c within a class", c)
		}
		if c == 'S' {
			return "[^" + spaces + "]", 2, nil
		}
		return "[^" + wordChars + "]", 2, nil
	case 'D':
		return `\P{Nd}`, 2, nil
	case 'u':
		if len(s) < 6 {
			return "", 0, fault.Errorf(fault.Unsupported, "it has an incomplete \\u")
		}
		return `\x{` + s[2:6] + "}", 6, nil
	case 'p', 'P', 'r', 'n', 't', 'f', 'v', 'x':
		return s[:2], 2, nil
	}
	if s[1] < utf8.RuneSelf && !letterOrDigit(s[1]) {
		return s[:2], 2, nil
	}
	return "", 0, fault.Errorf(fault.Unsupported, "it has \\%c", s[1])
}

func letterOrDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
