package migrate

import "fmt"

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
	return text
}
