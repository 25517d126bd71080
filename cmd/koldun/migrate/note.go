package migrate

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// A Level is the weight of a Note.
type Level string

// The levels.
const (
	Lost Level = "lost" // a field has no counterpart: its effect is gone
	Info Level = "note" // a field was renamed, or has no effect that could be missed
	Todo Level = "todo" // the user has to do something
)

// A Note describes what is not carried over as it was.
type Note struct {
	Level Level
	Where string // FILE:LINE
	Of    string // KIND NAMESPACE/NAME of the old object
	Path  string // of the field in the old object; empty: the object itself
	Why   string
	Do    string // what to do about it; empty: nothing
}

// String returns the note in one line.
func (n Note) String() string {
	what := n.Path
	if what != "" {
		what += ": "
	}
	text := fmt.Sprintf("%s: %s%s", n.Level, what, n.Why)
	if n.Do != "" {
		text += "; " + n.Do
	}
	return OneLine(text)
}

// Line returns the note after its place and object, in one line.
func (n Note) Line() string { return OneLine(n.Where+": "+n.Of+": ") + n.String() }

// OneLine escapes line breaks and control characters. Names of old objects may have
// them, and a line break would end the comment that the text is in.
func OneLine(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cf) || r == unicode.ReplacementChar {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// word returns a text as one argument of a command in a shell.
func word(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
