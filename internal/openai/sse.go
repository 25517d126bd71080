package openai

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// Done is the data of the event that ends a complete stream.
const Done = "[DONE]"

// AppendEvent appends an event with the data to b, in the wire form of
// https://html.spec.whatwg.org/multipage/server-sent-events.html.
func AppendEvent(b, data []byte) []byte {
	for {
		line, rest, more := bytes.Cut(data, []byte("\n"))
		b = append(b, "data: "...)
		b = append(b, line...)
		b = append(b, '\n')
		if !more {
			return append(b, '\n')
		}
		data = rest
	}
}

// AppendComment appends a comment, which receivers skip; it keeps proxies from
// thinking that the stream is dead. Line ends in text become spaces.
func AppendComment(b []byte, text string) []byte {
	b = append(b, ": "...)
	b = append(b, strings.NewReplacer("\r", " ", "\n", " ").Replace(text)...)
	return append(b, "\n\n"...)
}

// ErrEventTooLarge is returned when an event exceeds the decoder's bound.
var ErrEventTooLarge = errors.New("server-sent event is too large")

// An Event is one server-sent event.
type Event struct {
	Type string // "" means "message"
	Data []byte // valid until the next call of Next
	// Cut is true if the stream ended before the blank line that completes
	// the event.
	Cut bool
}

// A Decoder reads server-sent events. It accepts LF, CRLF and CR as line ends
// and a byte order mark at the start. Not safe for concurrent use.
type Decoder struct {
	// Comment, if set, is called with the text of each comment.
	Comment func(text string)

	r       *bufio.Reader
	max     int
	line    []byte
	data    []byte
	started bool
	skipLF  bool // the last line ended in CR; a LF right after it belongs to it
}

// NewDecoder reads from r events of at most limit bytes of data each.
func NewDecoder(r io.Reader, limit int) *Decoder {
	return &Decoder{r: bufio.NewReader(r), max: limit}
}

// Next blocks for the next event with data. It returns io.EOF at the end of
// the stream, after an event that was cut if there was one; ErrEventTooLarge;
// or the error of the reader, which too may follow an event that was cut.
func (d *Decoder) Next() (Event, error) {
	var e Event
	d.data = d.data[:0]
	hasData := false
	for {
		line, err := d.readLine()
		if err == nil && len(line) == 0 {
			if hasData {
				e.Data = d.data
				return e, nil
			}
			e.Type = ""
			continue
		}
		if len(line) > 0 {
			field, value, colon := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch {
			case colon && len(field) == 0:
				if d.Comment != nil {
					d.Comment(string(value))
				}
			case string(field) == "event":
				e.Type = string(value)
			case string(field) == "data":
				if hasData {
					d.data = append(d.data, '\n')
				}
				hasData = true
				d.data = append(d.data, value...)
				if len(d.data) > d.max {
					return Event{}, ErrEventTooLarge
				}
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, ErrEventTooLarge) || !hasData:
			return Event{}, err
		default: // the reader returns its error again when asked again
			e.Data, e.Cut = d.data, true
			return e, nil
		}
	}
}

// More reports whether a whole event has been received already, so that Next
// would not wait.
func (d *Decoder) More() bool {
	b, _ := d.r.Peek(d.r.Buffered())
	return bytes.Contains(b, []byte("\n\n")) || bytes.Contains(b, []byte("\n\r\n"))
}

// readLine returns the next line without its end. With an error comes what was
// read of the line so far.
func (d *Decoder) readLine() ([]byte, error) {
	d.line = d.line[:0]
	for {
		c, err := d.r.ReadByte()
		if err != nil {
			return d.line, err
		}
		if d.skipLF {
			d.skipLF = false
			if c == '\n' {
				continue
			}
		}
		switch c {
		case '\r':
			d.skipLF = true
			return d.trimBOM(), nil
		case '\n':
			return d.trimBOM(), nil
		}
		if len(d.line) > d.max+16 { // room for the field's name
			return nil, ErrEventTooLarge
		}
		d.line = append(d.line, c)
	}
}

func (d *Decoder) trimBOM() []byte {
	if d.started {
		return d.line
	}
	d.started = true
	return bytes.TrimPrefix(d.line, []byte("\xef\xbb\xbf"))
}
