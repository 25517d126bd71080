package openai

import (
	"bytes"
	"encoding/json"
)

// Encode writes v as JSON in one line, leaving <, > and & as they are: answers
// are read by people with curl too, not by browsers.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
