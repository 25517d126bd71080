package bus

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

// The messages of which there are some for each request, or for each piece of
// text, are written and read by a codec: encoding/json would spend several times
// what everything else about them costs. What it writes is what encoding/json
// would, byte for byte. It reads what it has written, fields in their order, and
// leaves everything else to encoding/json, with the same result.

// A message visits its fields in their order: the same method writes and reads.
type message interface{ visit(c *codec) }

// A codec writes a message to b, or reads one from it.
type codec struct {
	b       []byte // written, or still to be read
	reading bool
	first   bool  // the next field is the first of its object
	depth   int   // of objects
	failed  bool  // reading: encoding/json has to do it
	err     error // writing: what cannot be written
}

// encode is the JSON of a message, which is given as a pointer, or of anything else.
func encode(v any) ([]byte, error) {
	m, ok := v.(message)
	if !ok {
		return json.Marshal(v)
	}
	c := codec{b: make([]byte, 0, 256)}
	c.object(m)
	return c.b, c.err
}

// decode reads the JSON of a message or of anything else. What of v is set
// already is expected, and so is not made anew.
func decode[T any](data []byte, v *T) error {
	if m, ok := any(v).(message); ok {
		if quick(data, m) {
			return nil
		}
		var zero T
		*v = zero
	}
	return json.Unmarshal(data, v)
}

// quick reports whether data is a message as a codec writes it. Strings other
// than the message's body do not hold on to data.
func quick(data []byte, m message) bool {
	c := codec{b: data, reading: true}
	c.object(m)
	return !c.failed && len(c.b) == 0
}

// omission says when a field is not written.
type omission bool

const (
	always      omission = false
	unlessEmpty omission = true
)

func (c *codec) fail() { c.failed, c.b = true, nil }

// key reports whether a field is there, or else is to be written.
func (c *codec) key(name string, empty bool, o omission) bool {
	if c.reading {
		return c.readKey(name)
	}
	if empty && o == unlessEmpty {
		return false
	}
	if !c.first {
		c.b = append(c.b, ',')
	}
	c.first = false
	c.b = append(append(append(c.b, '"'), name...), `":`...)
	return true
}

func (c *codec) readKey(name string) bool {
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

// object is the value of a field, or all.
func (c *codec) object(m message) {
	c.mark('{')
	c.first = true
	c.depth++
	m.visit(c)
	c.depth--
	c.first = false
	c.mark('}')
}

// mark is a character of punctuation.
func (c *codec) mark(char byte) {
	switch {
	case !c.reading:
		c.b = append(c.b, char)
	case len(c.b) > 0 && c.b[0] == char:
		c.b = c.b[1:]
	default:
		c.fail()
	}
}

// part is an object that is always written.
func (c *codec) part(name string, m message) {
	if c.key(name, false, always) {
		c.object(m)
	}
}

// optional is an object that is written unless it is nil.
func optional[T any, M interface {
	*T
	message
}](c *codec, name string, v *M) {
	if !c.key(name, *v == nil, unlessEmpty) {
		return
	}
	if c.reading {
		*v = new(T)
	}
	c.object(*v)
}

func text[S ~string](c *codec, name string, v *S, o omission) {
	switch {
	case !c.key(name, *v == "", o):
		if c.reading {
			*v = ""
		}
	case c.reading:
		c.readText(func(b []byte) {
			if string(b) != string(*v) {
				*v = S(b)
			}
		})
	default:
		c.writeText(string(*v))
	}
}

// texts is a list that is written unless it is empty.
func (c *codec) texts(name string, v *[]string) {
	if !c.key(name, len(*v) == 0, unlessEmpty) {
		return
	}
	c.mark('[')
	if c.reading {
		*v = []string{}
		for !c.failed && !bytes.HasPrefix(c.b, []byte("]")) {
			if len(*v) > 0 {
				c.mark(',')
			}
			c.readText(func(b []byte) { *v = append(*v, string(b)) })
		}
	} else {
		for i, s := range *v {
			if i > 0 {
				c.mark(',')
			}
			c.writeText(s)
		}
	}
	c.mark(']')
}

// writeText copies text without anything to escape, nearly all of it.
func (c *codec) writeText(s string) {
	ascii := true
	for i := range len(s) {
		switch b := s[i]; {
		case b < ' ', b == '"', b == '\\', b == '<', b == '>', b == '&', b == 0xe2: // which U+2028 and U+2029 begin with
			c.writeAny(s)
			return
		case b >= utf8.RuneSelf:
			ascii = false
		}
	}
	if !ascii && !utf8.ValidString(s) {
		c.writeAny(s)
		return
	}
	c.b = append(append(append(c.b, '"'), s...), '"')
}

func (c *codec) writeAny(v any) {
	data, err := json.Marshal(v)
	c.b = append(c.b, data...)
	if err != nil {
		c.err = err
	}
}

// readText hands over a string, which is valid until the function returns.
func (c *codec) readText(take func([]byte)) {
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

func number[N ~int | ~int64 | ~uint64](c *codec, name string, v *N, o omission) {
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

// readNumber reads a decimal number of at most 18 digits without leading zeros.
func (c *codec) readNumber() (n int64) {
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

func (c *codec) flag(name string, v *bool, o omission) {
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

func (c *codec) moment(name string, v *time.Time, o omission) {
	switch {
	case !c.key(name, v.IsZero(), o):
	case c.reading:
		c.readText(func(b []byte) {
			if v.UnmarshalText(b) != nil {
				c.fail()
			}
		})
	default:
		c.mark('"')
		b, err := v.AppendText(c.b)
		if err != nil {
			c.err = err
			return
		}
		c.b = b
		c.mark('"')
	}
}

// last is a value of any kind, which only closing braces follow. It is part of
// the data that is read.
func (c *codec) last(name string, v *json.RawMessage) {
	if !c.key(name, false, always) {
		return
	}
	if !c.reading {
		c.writeAny(*v)
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
