package openai

import (
	"bytes"
	"encoding/json"
)

// Encode writes v as JSON in one line. It does not escape <, > and &: people read
// answers with curl, and browsers do not render them.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
