package messages

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/openai"
)

// FuzzParse holds that every request either becomes a chat that can be read back, or
// is refused with a 400.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"}]}`, `[]`,
		`{"model":"m","max_tokens":1,"system":[{"type":"text","text":"s"}],"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"tool_use","id":"i","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":"1"}]}]}`,
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"tools":[{"name":"f","input_schema":{}}],"tool_choice":{"type":"any"},"thinking":{"type":"enabled"},"output_config":{"format":{"type":"json_schema","schema":{}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		chat, _, err := Parse(body)
		var e *openai.Error
		if err != nil {
			if !errors.As(err, &e) || e.Status != 400 {
				t.Fatalf("err = %#v", err)
			}
			return
		}
		wire, err := chat.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := openai.ParseChat(wire); err != nil {
			t.Fatalf("cannot read back %s: %v", wire, err)
		}
	})
}

// FuzzArguments holds that the input of a tool is an object, whatever the model wrote.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, "", "null", "[1]", "{", `"x`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var object map[string]any
		if err := json.Unmarshal(arguments(text), &object); err != nil || object == nil {
			t.Fatalf("%q becomes %s", text, arguments(text))
		}
		if strings.TrimSpace(text) != "" && strings.TrimSpace(text) != "{}" && len(object) == 0 && text[0] != '{' {
			var given map[string]any
			if json.Unmarshal([]byte(text), &given) != nil {
				t.Fatalf("%q is lost", text)
			}
		}
	})
}

// TestParseIgnores names the fields that have no effect.
func TestParseIgnores(t *testing.T) {
	_, ignored, err := Parse([]byte(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"}],"service_tier":"auto","seed":1,"system":"b","thinking":null}`))
	if want := []string{"seed", "service_tier"}; err != nil || !slices.Equal(ignored, want) {
		t.Errorf("got %q, %v, want %q", ignored, err, want)
	}
}
