// Package wire encodes and decodes messages as JSON without reflection.
//
// Each request causes several messages, and each piece of text one, for which
// encoding/json would dominate the cost. A Codec writes the same bytes as
// encoding/json. It reads only what a Codec has written, with fields in order; the
// caller decodes other JSON with encoding/json, which gives the same result.
package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

// A Message visits its fields in the order in which they are written. The same
// method writes and reads them.
type Message interface{ Visit(c *Codec) }

// A Codec writes a message, or reads one.
type Codec struct {
	b       []byte // written, or still to be read
	reading bool
	first   bool  // the next field is the first of its object
	depth   int   // of objects
	failed  bool  // reading: encoding/json must decode the message
	err     error // writing: the value cannot be encoded
}

// Encode returns the JSON of a message.
func Encode(m Message) ([]byte, error) { return Append(make([]byte, 0, 256), m) }

// Append appends the JSON of a message to b.
func Append(b []byte, m Message) ([]byte, error) {
	c := Codec{b: b}
	c.message(m)
	return c.b, c.err
}

// Unmarshal decodes the JSON of a message into v. It keeps strings that v already
// holds if they are equal to those of the message, without copying: set expected
// strings before.
func Unmarshal[T any, M interface {
	*T
	Message
}](data []byte, v M) error {
	if Decode(data, v) {
		return nil
	}
	var zero T
	*v = zero
	return json.Unmarshal(data, v)
}

// Decode decodes a message and reports whether data has the form that a Codec
// writes. If not, m is partly set. Strings do not keep data alive, unlike the value
// of Last.
func Decode(data []byte, m Message) bool {
	c := Codec{b: data, reading: true}
	c.message(m)
	return !c.failed && len(c.b) == 0
}

// An Omission is the rule for omitting a field.
type Omission bool

// The omissions.
const (
	Never   Omission = false
	IfEmpty Omission = true
)

func (c *Codec) fail() { c.failed, c.b = true, nil }

// key reports whether a field is the next to read or write.
func (c *Codec) key(name string, empty bool, o Omission) bool {
	if c.reading {
		return c.readKey(name)
	}
	if empty && o == IfEmpty {
		return false
	}
	if !c.first {
		c.b = append(c.b, ',')
	}
	c.first = false
	c.b = append(append(append(c.b, '"'), name...), `":`...)
	return true
}

func (c *Codec) readKey(name string) bool {
	b := c.b
	if !c.first {
		if len(b) == 0 || b[0] != ',' {
			return false
		}
		b = b[1:]
	}
	if len(b) < len(name)+3 || b[0] != '"' || string(b[1:len(name)+1]) != name || b[len(name)+1] != '"' || b[len(name)+2] != ':' {
		return false
	}
	c.b, c.first = b[len(name)+3:], false
	return true
}

// message is the value of a field, or the whole message.
func (c *Codec) message(m Message) {
	c.punctuation('{')
	c.first = true
	c.depth++
	m.Visit(c)
	c.depth--
	c.first = false
	c.punctuation('}')
}

// punctuation writes a character, or reads it.
func (c *Codec) punctuation(char byte) {
	switch {
	case !c.reading:
		c.b = append(c.b, char)
	case len(c.b) > 0 && c.b[0] == char:
		c.b = c.b[1:]
	default:
		c.fail()
	}
}

// Object visits an object that is always written.
func (c *Codec) Object(name string, m Message) {
	if c.key(name, false, Never) {
		c.message(m)
	}
}

// Optional visits an object that is written unless it is nil.
func Optional[T any, M interface {
	*T
	Message
}](c *Codec, name string, v *M) {
	if !c.key(name, *v == nil, IfEmpty) {
		return
	}
	if c.reading {
		*v = new(T)
	}
	c.message(*v)
}

// String visits a string.
func String[S ~string](c *Codec, name string, v *S, o Omission) {
	switch {
	case !c.key(name, *v == "", o):
		if c.reading {
			*v = ""
		}
	case c.reading:
		c.readString(func(b []byte) {
			if string(b) != string(*v) {
				*v = S(b)
			}
		})
	default:
		c.writeString(string(*v))
	}
}

// Strings visits a list that is written unless it is empty.
func (c *Codec) Strings(name string, v *[]string) {
	if !c.key(name, len(*v) == 0, IfEmpty) {
		return
	}
	c.punctuation('[')
	if c.reading {
		*v = []string{}
		for !c.failed && !bytes.HasPrefix(c.b, []byte("]")) {
			if len(*v) > 0 {
				c.punctuation(',')
			}
			c.readString(func(b []byte) { *v = append(*v, string(b)) })
		}
	} else {
		for i, s := range *v {
			if i > 0 {
				c.punctuation(',')
			}
			c.writeString(s)
		}
	}
	c.punctuation(']')
}

// writeString copies a string without characters to escape, the common case.
func (c *Codec) writeString(s string) {
	ascii := true
	for i := range len(s) {
		switch b := s[i]; {
		case b < ' ', b == '"', b == '\\', b == '<', b == '>', b == '&', b == 0xe2: // which U+2028 and U+2029 begin with
			c.writeJSON(s)
			return
		case b >= utf8.RuneSelf:
			ascii = false
		}
	}
	if !ascii && !utf8.ValidString(s) {
		c.writeJSON(s)
		return
	}
	c.b = append(append(append(c.b, '"'), s...), '"')
}

func (c *Codec) writeJSON(v any) {
	data, err := json.Marshal(v)
	c.b = append(c.b, data...)
	if err != nil {
		c.err = err
	}
}

// readString calls take with a string that is valid until take returns.
func (c *Codec) readString(take func([]byte)) {
	if len(c.b) == 0 || c.b[0] != '"' {
		c.fail()
		return
	}
	ascii, escaped := true, false
	for i := 1; i < len(c.b); i++ {
		switch b := c.b[i]; {
		case b == '"':
			whole, value := c.b[:i+1], c.b[1:i]
			c.b = c.b[i+1:]
			switch {
			case escaped:
				var s string
				if json.Unmarshal(whole, &s) != nil {
					c.fail()
					return
				}
				value = []byte(s)
			case !ascii && !utf8.Valid(value):
				c.fail()
				return
			}
			take(value)
			return
		case b == '\\':
			escaped = true
			i++
		case b < ' ':
			c.fail()
			return
		case b >= utf8.RuneSelf:
			ascii = false
		}
	}
	c.fail()
}

// Number visits an integer.
func Number[N ~int | ~int64 | ~uint64](c *Codec, name string, v *N, o Omission) {
	switch {
	case !c.key(name, *v == 0, o):
	case c.reading:
		n := c.readNumber()
		if *v = N(n); int64(*v) != n || n < 0 && *v > 0 {
			c.fail()
		}
	case *v < 0:
		c.b = strconv.AppendInt(c.b, int64(*v), 10)
	default:
		c.b = strconv.AppendUint(c.b, uint64(*v), 10)
	}
}

// OptionalNumber visits an integer that is written unless it is nil.
func OptionalNumber[N ~int | ~int64 | ~uint64](c *Codec, name string, v **N) {
	switch {
	case !c.key(name, *v == nil, IfEmpty):
		if c.reading {
			*v = nil
		}
		return
	case c.reading:
		n := c.readNumber()
		if *v = new(N(n)); int64(**v) != n || n < 0 && **v > 0 {
			c.fail()
		}
	default:
		c.b = strconv.AppendInt(c.b, int64(**v), 10)
	}
}

// readNumber reads a decimal number of at most 18 digits without leading zeros.
func (c *Codec) readNumber() (n int64) {
	b := c.b
	minus := len(b) > 0 && b[0] == '-'
	if minus {
		b = b[1:]
	}
	i := 0
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		n = n*10 + int64(b[i]-'0')
	}
	if i == 0 || i > 18 || i > 1 && b[0] == '0' || minus && n == 0 {
		c.fail()
		return 0
	}
	c.b = b[i:]
	if minus {
		return -n
	}
	return n
}

// Bool visits a boolean.
func (c *Codec) Bool(name string, v *bool, o Omission) {
	switch {
	case !c.key(name, !*v, o):
	case !c.reading:
		c.b = strconv.AppendBool(c.b, *v)
	case bytes.HasPrefix(c.b, []byte("true")):
		*v, c.b = true, c.b[len("true"):]
	case bytes.HasPrefix(c.b, []byte("false")):
		*v, c.b = false, c.b[len("false"):]
	default:
		c.fail()
	}
}

// Time visits a time.
func (c *Codec) Time(name string, v *time.Time, o Omission) {
	switch {
	case !c.key(name, v.IsZero(), o):
	case c.reading:
		c.readString(func(b []byte) {
			if v.UnmarshalText(b) != nil {
				c.fail()
			}
		})
	default:
		c.punctuation('"')
		b, err := v.AppendText(c.b)
		if err != nil {
			c.err = err
			return
		}
		c.b = b
		c.punctuation('"')
	}
}

// Last visits the last field of a message, a value of any kind. When decoding, it
// refers to the data without copying.
func (c *Codec) Last(name string, v *json.RawMessage, o Omission) {
	if !c.key(name, len(*v) == 0, o) {
		return
	}
	if !c.reading {
		c.writeJSON(*v)
		return
	}
	end := max(len(c.b)-c.depth, 0)
	value := c.b[:end:end]
	c.b = c.b[end:]
	if end == 0 || value[0] <= ' ' || value[end-1] <= ' ' || !json.Valid(value) {
		c.fail()
		return
	}
	*v = value
}

// Raw writes a field whose value is JSON, without checking it. It cannot be
// decoded.
func (c *Codec) Raw(name string, value []byte) {
	if c.reading {
		c.fail()
		return
	}
	c.key(name, false, Never)
	c.b = append(c.b, value...)
}
