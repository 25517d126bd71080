package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// A Decoder turns a sequence of tokens into text piece by piece. What it
// returns is always valid UTF-8: bytes of an unfinished character are held
// back until the next token completes it, and bytes that are no character
// become one U+FFFD per run. Not safe for concurrent use.
type Decoder struct {
	t       *Tokenizer
	pending []byte
	broken  bool // a run of invalid bytes waits for the next valid character
}

// Decoder begins a new text.
func (t *Tokenizer) Decoder() *Decoder { return &Decoder{t: t} }

// Next returns the text that a token completes, often "" or more than one
// character. BOS, end tokens and ids outside of the vocabulary have no text.
func (d *Decoder) Next(id int) string {
	if id == d.t.file.BOS || d.t.IsEOS(id) || id < 0 || id >= len(d.t.file.Tokens) {
		return ""
	}
	d.pending = append(d.pending, d.t.file.Tokens[id].Text...)
	var out strings.Builder
	for len(d.pending) > 0 {
		r, size := utf8.DecodeRune(d.pending)
		if r == utf8.RuneError && size <= 1 {
			if !utf8.FullRune(d.pending) {
				break
			}
			d.broken = true
			d.pending = d.pending[1:]
			continue
		}
		d.mend(&out)
		out.Write(d.pending[:size])
		d.pending = d.pending[size:]
	}
	return out.String()
}

// Flush ends the text: U+FFFD if bytes of no or of an unfinished character are
// left, "" otherwise. The Decoder can be used for a new text.
func (d *Decoder) Flush() string {
	if len(d.pending) > 0 {
		d.broken = true
	}
	d.pending = d.pending[:0]
	var out strings.Builder
	d.mend(&out)
	return out.String()
}

func (d *Decoder) mend(out *strings.Builder) {
	if d.broken {
		out.WriteRune(utf8.RuneError)
		d.broken = false
	}
}
