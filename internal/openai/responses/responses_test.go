package responses

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/openai"
)

const testID = "01KB000000000000000000TEST"

func testOptions() Options {
	return Options{ID: testID, Model: "default/tiny", Created: 1, Now: func() time.Time { return time.Unix(2, 0) }}
}

// FuzzParse holds that every request either becomes a chat that can be read back, or
// is refused with a 400.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"model":"m","input":"a"}`, `[]`, `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"a"}]}],"stream":true}`,
		`{"model":"m","input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"1"}],"x":null}`,
		`{"model":"m","input":[{"type":"reasoning","summary":[]},{"type":"compaction","encrypted_content":"eyJ2ZXJzaW9uIjoxLCJzdW1tYXJ5IjoicyJ9"}],"n":2}`,
		`{"model":"m","input":"a","tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"allowed_tools","tools":[{"type":"function","name":"f"}]},"metadata":{"a":"b"}}`,
		`{"model":"m","input":"a","text":{"format":{"type":"json_schema","name":"n","schema":{}}},"reasoning":{"effort":"max"},"include":["message.output_text.logprobs"]}`,
	} {
		f.Add([]byte(seed))
	}
	refused := func(t *testing.T, err error) bool {
		var e *openai.Error
		if err != nil && (!errors.As(err, &e) || e.Status != 400) {
			t.Fatalf("err = %#v", err)
		}
		return err != nil
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, parse := range []func([]byte) (*Request, error){Parse, ParseCompact} {
			r, err := parse(body)
			if refused(t, err) {
				continue
			}
			chat, err := r.Chat(r.Input)
			if refused(t, err) {
				continue
			}
			wire, err := chat.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := openai.ParseChat(wire); err != nil {
				t.Fatalf("cannot read back %s: %v", wire, err)
			}
			r.Store = false
			response := NewResponse(r, testOptions(), "t", "a", &openai.Parts{}, "stop", nil)
			items, err := NewRecord(r.Input, response).Items()
			if err != nil || len(items) != len(r.Input)+2 {
				t.Fatalf("%d items, want %d and 2: %v", len(items), len(r.Input), err)
			}
		}
	})
}

// FuzzStream holds that the events of any pieces are well-formed, and that the last
// one has the text of all.
func FuzzStream(f *testing.F) {
	f.Add("thought", "text", "refusal", "f", `{"a":1}`, 0, "stop")
	f.Add("", "", "", "", "", 7, "length")
	f.Fuzz(func(t *testing.T, thoughts, text, refused, name, arguments string, index int, finish string) {
		r, err := Parse([]byte(`{"model":"m","input":"a","store":false}`))
		if err != nil {
			t.Fatal(err)
		}
		s := NewStream(r, testOptions())
		b := s.Role(nil)
		b = s.Reasoning(b, thoughts)
		for range 2 {
			b = s.Parts(b, text, &openai.Parts{Refusal: refused})
			b = s.Parts(b, "", &openai.Parts{ToolCalls: []openai.ToolCall{{Index: index, Function: openai.ToolFunction{Name: name, Arguments: arguments}}}})
		}
		b = s.Done(s.Usage(s.Finish(b, finish), openai.Usage{}))
		d := openai.NewDecoder(strings.NewReader(string(b)), len(b))
		n := 0
		for {
			e, err := d.Next()
			if err != nil {
				t.Fatal(err)
			}
			if string(e.Data) == openai.Done {
				break
			}
			var got struct {
				Type     string
				Sequence int `json:"sequence_number"`
			}
			if err := json.Unmarshal(e.Data, &got); err != nil || got.Type != e.Type || got.Sequence != n {
				t.Fatalf("event %d: %q %s: %v", n, e.Type, e.Data, err)
			}
			n++
		}
		for i, item := range s.Response().Output {
			if !json.Valid(item) || string(item) == "null" {
				t.Fatalf("item %d is %q", i, item)
			}
		}
	})
}

func TestResponseIDOfItems(t *testing.T) {
	for id, want := range map[string]string{"msg_" + testID + "0": "resp_" + testID, "fc_" + testID + "12": "resp_" + testID, "msg_" + testID: "", "msg_1": "", "": "", "x": ""} {
		if got, ok := ResponseID(id); got != want || ok != (want != "") {
			t.Errorf("%q: %q", id, got)
		}
	}
}
