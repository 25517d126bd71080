package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// A Decoder converts a sequence of tokens to text piece by piece. It returns
// valid UTF-8: it holds back the bytes of an incomplete character until a token
// completes it, and replaces each run of invalid bytes by one U+FFFD. It is not
// safe for concurrent use.
type Decoder struct {
	t       *Tokenizer
	pending []byte
	broken  bool // a run of invalid bytes waits for the next valid character
}

// Decoder returns a decoder for a new text.
func (t *Tokenizer) Decoder() *Decoder { return &Decoder{t: t} }

// Next returns the text that a token completes, which can be "" or more than
// one character. BOS, end tokens and ids outside of the vocabulary have no
// text.
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

// Flush ends the text. It returns U+FFFD if invalid bytes or bytes of an
// incomplete character remain, else "". Then the Decoder is ready for a new
// text.
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
