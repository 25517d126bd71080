package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// TestResponsesCompliance sends the requests of the specification's compliance suite
// that go by HTTP; TestSocket and TestCompaction hold the others. A model for text
// refuses the one with an image by name.
func TestResponsesCompliance(t *testing.T) {
	w := newWorld(t, nil)
	startRunner(t, w.bus, tinySession, replies("Hello", " there"))
	w.putOffer("r1", queue.RunnerIdle, "tools,tool_choice,json_schema,logprobs")
	cases := map[string]string{
		"basic-response":  `"input":[{"type":"message","role":"user","content":"Say hello in exactly 3 words."}]`,
		"assistant-phase": `"input":[{"type":"message","role":"user","content":"a"},{"type":"message","role":"assistant","phase":"commentary","content":"b"},{"type":"message","role":"assistant","phase":"final_answer","content":"c"},{"type":"message","role":"user","content":"d"}]`,
		"system-prompt":   `"input":[{"type":"message","role":"system","content":"You are a pirate."},{"type":"message","role":"user","content":"Say hello."}]`,
		"multi-turn":      `"input":[{"type":"message","role":"user","content":"My name is Alice."},{"type":"message","role":"assistant","content":"Hello Alice!"},{"type":"message","role":"user","content":"What is my name?"}]`,
	}
	for name, fields := range cases {
		t.Run(name, func(t *testing.T) {
			r, body := w.do("POST", responsesPath, `{"model":"tiny",`+fields+`}`)
			if r.StatusCode != http.StatusOK {
				t.Fatal(body)
			}
			if got := wantResponse(t, body); got.Status != "completed" || len(got.Output) == 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
	t.Run("streaming-response", func(t *testing.T) {
		_, body := w.do("POST", responsesPath, `{"model":"tiny","stream":true,"input":[{"type":"message","role":"user","content":"Count from 1 to 5."}]}`)
		if events := wantEvents(t, body); events[len(events)-1].Response.Status != "completed" {
			t.Errorf("got %s", body)
		}
	})
	t.Run("image-input", func(t *testing.T) {
		r, body := w.do("POST", responsesPath, `{"model":"tiny","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}]}`)
		if e := decodeError(t, body); r.StatusCode != http.StatusBadRequest || !strings.Contains(e.Message, "input_image") {
			t.Errorf("%d %s", r.StatusCode, body)
		}
	})
}

func TestResponsesComplianceTools(t *testing.T) {
	w := newWorld(t, nil)
	startRunner(t, w.bus, tinySession, callsTools)
	_, body := w.do("POST", responsesPath, `{"model":"tiny","input":[{"type":"message","role":"user","content":"What's the weather like in San Francisco?"}],
		"tools":[{"type":"function","name":"weather","description":"Get the weather","parameters":{"type":"object","properties":{"location":{"type":"string"}},"required":["location"]}},
		{"type":"function","name":"time"}]}`)
	if got := wantResponse(t, body); !strings.Contains(kinds(got.Output), "function_call completed") {
		t.Errorf("got %s", body)
	}
}
