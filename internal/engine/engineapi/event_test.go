package engineapi

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"choices":[{"delta":{"content":" worl","role":"assistant"},"finish_reason":"","index":-496096352}],"object":"chat.completion"}`,
		`{"choices":[{"finish_reason":"stop","index":0}]}`,
		`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`,
		`{"error":{"message":"boom"}}`, `{"error":"boom"}`, `{"choices":null}`, `null`, `[]`, ``, "{\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := decode(data)
		if err == nil && !utf8.ValidString(p.text) {
			t.Errorf("decode(%q) = %q, not UTF-8", data, p.text)
		}
		// The quick way reads what the thorough one would.
		text, ok := quick(data)
		if !ok || !json.Valid(data) || bytes.Count(data, []byte("hoices")) > 1 {
			return
		}
		var event struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal(data, &event); err != nil || len(event.Choices) == 0 || event.Choices[0].Delta.Content != text {
			t.Errorf("quick(%q) = %q, %v", data, text, err)
		}
	})
}
