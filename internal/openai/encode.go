package openai

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Encode writes v as JSON in one line. It does not escape <, > and &: people read
// answers with curl, and browsers do not render them.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := encodeTo(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func encodeTo(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the newline
	return nil
}

// writeObject writes an object with its fields in order.
func writeObject(b *bytes.Buffer, fields map[string]any) error {
	o := objectWriter{b: b}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		o.field(name, fields[name])
	}
	return o.end()
}

// An objectWriter writes an object field by field. encoding/json would copy what is inside
// of objects with methods of their own once for each level, and a body is large.
type objectWriter struct {
	b     *bytes.Buffer
	begun bool
	err   error
}

func (o *objectWriter) field(name string, value any) {
	if o.err != nil {
		return
	}
	mark := byte(',')
	if !o.begun {
		o.begun, mark = true, '{'
	}
	o.b.WriteByte(mark)
	if o.err = encodeTo(o.b, name); o.err != nil {
		return
	}
	o.b.WriteByte(':')
	switch v := value.(type) {
	case json.RawMessage:
		o.err = json.Compact(o.b, v)
	case []Message:
		o.err = writeMessages(o.b, v)
	default:
		o.err = encodeTo(o.b, v)
	}
}

// end closes the object.
func (o *objectWriter) end() error {
	if !o.begun {
		o.b.WriteByte('{')
	}
	o.b.WriteByte('}')
	return o.err
}

func writeMessages(b *bytes.Buffer, messages []Message) error {
	b.WriteByte('[')
	for i, m := range messages {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := m.write(b); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}
