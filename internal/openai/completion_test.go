package openai

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCompletionAccepts(t *testing.T) {
	once := []Message{{Role: User, Content: "Once"}}
	cases := map[string]struct {
		body string
		want ChatRequest
	}{
		"Least":      {`{"model":"m","prompt":"Once"}`, ChatRequest{Model: "m", Messages: once, MaxTokens: 16}},
		"ArrayOfOne": {`{"model":"m","prompt":["Once"],"max_tokens":null}`, ChatRequest{Model: "m", Messages: once, MaxTokens: 16}},
		"Empty":      {`{"model":"m","prompt":""}`, ChatRequest{Model: "m", Messages: []Message{{Role: User}}, MaxTokens: 16}},
		"Everything": {
			`{"model":"m","prompt":"Once","max_tokens":7,"stream":true,"stream_options":{"include_usage":true},"temperature":0,"top_p":1,
				"seed":4,"stop":["a","b"],"user":"u","n":1,"best_of":1,"echo":false,"suffix":null,"logprobs":null,"frequency_penalty":1,"top_k":3}`,
			ChatRequest{
				Model: "m", Messages: once, MaxTokens: 7, Stream: true, IncludeUsage: true, Temperature: new(0.0), TopP: new(1.0),
				Seed: new(int64(4)), Stop: []string{"a", "b"}, User: "u",
				Hints: map[string]json.RawMessage{"frequency_penalty": json.RawMessage("1")},
				Extra: map[string]json.RawMessage{"top_k": json.RawMessage("3")},
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseCompletion([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseCompletionRefuses(t *testing.T) {
	with := func(fields string) string { return `{"model":"m","prompt":"Once",` + fields + `}` }
	cases := map[string]struct{ body, param, code string }{
		"NotJSON":     {`{`, "", CodeInvalidJSON},
		"NoPrompt":    {`{"model":"m"}`, "prompt", CodeMissing},
		"NoModel":     {`{"prompt":"x"}`, "model", CodeMissing},
		"NoPrompts":   {`{"model":"m","prompt":[]}`, "prompt", CodeInvalidValue},
		"TwoPrompts":  {`{"model":"m","prompt":["a","b"]}`, "prompt", CodeUnsupportedValue},
		"Tokens":      {`{"model":"m","prompt":[1,2]}`, "prompt", CodeUnsupportedValue},
		"TokenArrays": {`{"model":"m","prompt":[[1,2]]}`, "prompt", CodeUnsupportedValue},
		"PromptType":  {`{"model":"m","prompt":{}}`, "prompt", CodeInvalidType},
		"PromptNull":  {`{"model":"m","prompt":[null]}`, "prompt", CodeInvalidType},
		"Suffix":      {with(`"suffix":"end"`), "suffix", CodeUnsupported},
		"Echo":        {with(`"echo":true`), "echo", CodeUnsupported},
		"BestOf":      {with(`"best_of":2`), "best_of", CodeUnsupportedValue},
		"BestOfMore":  {with(`"n":2,"best_of":3`), "best_of", CodeUnsupportedValue},
		"N":           {with(`"n":0`), "n", CodeInvalidValue},
		"Logprobs":    {with(`"logprobs":6`), "logprobs", CodeInvalidValue},
		"LogprobsYes": {with(`"logprobs":true`), "logprobs", CodeInvalidType},
		"Format":      {with(`"response_format":{"type":"json_object"}`), "response_format", CodeUnsupported},
		"Limit":       {with(`"max_tokens":0`), "max_tokens", CodeInvalidValue},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := ParseCompletion([]byte(c.body))
			var e *Error
			if !errors.As(err, &e) || e.Status != 400 || e.Param != c.param || e.Code != c.code {
				t.Errorf("got %+v, want param %q code %q", err, c.param, c.code)
			}
		})
	}
}

func FuzzParseCompletion(f *testing.F) {
	f.Add([]byte(`{"model":"m","prompt":["Once"],"stop":"x"}`))
	f.Add([]byte(`{"model":"m","prompt":[[1],null],"n":2}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := ParseCompletion(body)
		var e *Error
		if err != nil {
			if !errors.As(err, &e) || e.Status != 400 || e.Message == "" {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		// What is accepted is a chat that the runner can read.
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseChat(b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if back.Messages[0].Content != r.Messages[0].Content || back.MaxTokens != r.MaxTokens {
			t.Fatalf("%+v became %+v", r, back)
		}
	})
}

func TestTextStream(t *testing.T) {
	s := NewTextStream(StreamOptions{ID: "cmpl-1", Model: "a/b", Created: 7, IncludeUsage: true})
	b := s.Role(nil)
	b = s.Text(b, "x\n")
	b = s.Reasoning(b, "y")
	b = s.Finish(b, "length")
	b = s.Usage(b, Usage{PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3})
	b = s.Done(b)
	const head = `data: {"id":"cmpl-1","object":"text_completion","created":7,"model":"a/b","choices":[`
	want := head + `{"text":"x\n","index":0,"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n" +
		head + `{"text":"y","index":0,"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n" +
		head + `{"text":"","index":0,"logprobs":null,"finish_reason":"length"}],"usage":null}` + "\n\n" +
		head + `],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}` + "\n\n" +
		"data: [DONE]\n\n"
	if d := cmp.Diff(want, string(b)); d != "" {
		t.Error(d)
	}
}
