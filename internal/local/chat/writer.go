package chat

import (
	"io"
	"strings"
	"unicode"
)

const (
	dim   = "\x1b[2m"
	plain = "\x1b[0m"
)

// A writer shows an answer while it comes. Thoughts are dim on a terminal, and left
// out elsewhere.
type writer struct {
	out      io.Writer
	color    bool
	thinking bool
	text     strings.Builder // of the answer
}

func (w *writer) write(p Part) error {
	var shown strings.Builder
	if p.Thoughts != "" && w.color {
		if !w.thinking {
			shown.WriteString(dim)
		}
		w.thinking = true
		shown.WriteString(clean(p.Thoughts))
	}
	if p.Text != "" {
		if w.thinking {
			shown.WriteString(plain + "\n")
		}
		w.thinking = false
		w.text.WriteString(p.Text)
		shown.WriteString(clean(p.Text))
	}
	_, err := io.WriteString(w.out, shown.String())
	return err
}

// end ends the last line.
func (w *writer) end() error {
	last := "\n"
	if w.thinking {
		last = plain + "\n"
	}
	_, err := io.WriteString(w.out, last)
	return err
}

// clean removes control characters, by which a model could drive the terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
