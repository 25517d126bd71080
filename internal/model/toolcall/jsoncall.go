package toolcall

import (
	"encoding/json"
	"slices"
)

// A jsonCall reads an object with the name of a tool and its arguments, again and
// again. Arguments that come after the name are passed on as they come.
type jsonCall struct {
	p     *Parser
	state callState
	scan  scanner
	value []byte // of the key
	key   string
	first bool // a key has come
	args  object

	name    string
	begun   bool
	whole   bool // the arguments have been passed on
	waiting []byte
}

type callState int

const (
	atOpen callState = iota
	atKey
	inKey
	atColon
	atValue
	inValue
	inArguments
	atNext
)

// callKeys are the keys with one of which such an object begins. Another object is
// no call.
var callKeys = []string{"name", "arguments", "parameters", "type", "function", "id", "tool_call_id", "index"}

func (c *jsonCall) read(in []byte) (int, verdict) {
	for i := 0; i < len(in); i++ {
		b := in[i]
		if isSpace(b) && c.state != inKey && c.state != inValue && c.state != inArguments {
			continue
		}
		switch c.state {
		case atOpen:
			if b != '{' {
				return i, broken
			}
			c.state = atKey
		case atKey:
			if b == '}' && c.first { // a comma before it
				c.state = atNext
				i--
				continue
			}
			if b != '"' {
				return i, broken
			}
			c.state, c.scan, c.value = inKey, scanner{}, c.value[:0]
			i--
		case inKey, inValue:
			used, ok := c.collect(b)
			if !ok {
				return i, broken
			}
			if !used {
				i--
			}
		case atColon:
			if b != ':' {
				return i, broken
			}
			c.state = atValue
		case atValue:
			if b == '{' && c.streams() {
				if !c.start() {
					return i, broken
				}
				c.state, c.args = inArguments, object{p: c.p}
				return i, began
			}
			c.state, c.scan, c.value = inValue, scanner{}, c.value[:0]
			i--
		case inArguments:
			n, v := c.args.read(in[i:])
			if v != ended {
				return i + n, v
			}
			c.state, c.whole = atNext, true
			i += n - 1
		case atNext:
			switch {
			case b == ',':
				c.state = atKey
			case b != '}':
				return i, broken
			case !c.begun:
				if c.waiting == nil {
					c.waiting = []byte("{}")
				}
				if !c.start() {
					return i, broken
				}
				return i, began
			default:
				if !c.whole {
					c.p.arguments(c.waiting)
				}
				*c = jsonCall{p: c.p}
				return i + 1, ended
			}
		}
	}
	return len(in), more
}

func (c *jsonCall) streams() bool {
	return (c.key == "arguments" || c.key == "parameters") && c.name != "" && c.waiting == nil && !c.begun
}

func (c *jsonCall) start() bool {
	c.begun = c.p.start(c.name)
	return c.begun
}

// collect takes a byte of a key or a value that is not passed on. It reports whether
// it used the byte.
func (c *jsonCall) collect(b byte) (used, ok bool) {
	if word := c.scan.state == inWord && len(c.scan.stack) == 0; word && !isWordByte(b) {
		return false, json.Valid(c.value) && c.took()
	}
	if c.value, ok = c.scan.step(c.value, b); !ok {
		return true, false
	}
	if !c.scan.done {
		return true, true
	}
	if c.state == inKey {
		c.state = atColon
		if json.Unmarshal(c.value, &c.key) != nil {
			return true, false
		}
		known := c.first || slices.Contains(callKeys, c.key)
		c.first = true
		return true, known
	}
	return true, c.took()
}

// took takes a value that has come whole.
func (c *jsonCall) took() bool {
	c.state = atNext
	switch c.key {
	case "name":
		return json.Unmarshal(c.value, &c.name) == nil && c.known()
	case "arguments", "parameters":
		args, ok := asObject(c.value)
		c.waiting = args
		return ok
	case "function":
		if c.value[0] == '"' {
			return json.Unmarshal(c.value, &c.name) == nil && c.known()
		}
		var inner struct {
			Name       string          `json:"name"`
			Arguments  json.RawMessage `json:"arguments"`
			Parameters json.RawMessage `json:"parameters"`
		}
		if json.Unmarshal(c.value, &inner) != nil {
			return false
		}
		if inner.Arguments == nil {
			inner.Arguments = inner.Parameters
		}
		c.name = inner.Name
		args, ok := asObject(inner.Arguments)
		c.waiting = args
		return ok && c.known()
	}
	return true
}

// known reports whether there is a tool of the name: all else need not be read.
func (c *jsonCall) known() bool {
	_, known := c.p.tools[c.name]
	return known
}

// asObject returns arguments as an object: they may be one, one in a string, or
// missing.
func asObject(raw []byte) ([]byte, bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return []byte("{}"), true
	}
	if raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return nil, false
		}
		if s == "" {
			s = "{}"
		}
		raw = []byte(s)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return nil, false
	}
	return slices.Clone(raw), true
}
