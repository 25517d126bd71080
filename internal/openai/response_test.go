package openai

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAnswersInOnePiece(t *testing.T) {
	cases := map[string]struct {
		answer any
		want   string
	}{
		"Chat": {
			NewCompletion("chatcmpl-1", "a/b", 7, "<hi>", FinishLength, NewUsage(1, 2)),
			`{"id":"chatcmpl-1","object":"chat.completion","created":7,"model":"a/b","choices":[{"index":0,"message":{"role":"assistant","content":"<hi>","refusal":null},` +
				`"logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`,
		},
		"Text": {
			NewText("cmpl-1", "a/b", 7, "hi", FinishStop, nil),
			`{"id":"cmpl-1","object":"text_completion","created":7,"model":"a/b","choices":[{"text":"hi","index":0,"logprobs":null,"finish_reason":"stop"}]}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got, err := Encode(c.answer); err != nil || string(got) != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestReasoningChunks(t *testing.T) {
	s := NewStream(StreamOptions{ID: "1", Model: "m"})
	data, ok := strings.CutPrefix(strings.TrimSpace(string(s.Reasoning(nil, "hm"))), "data: ")
	var c Chunk
	if err := json.Unmarshal([]byte(data), &c); !ok || err != nil || *c.Choices[0].Delta.ReasoningContent != "hm" || c.Choices[0].Delta.Content != nil {
		t.Errorf("%s: %+v, %v", data, c, err)
	}
	text := NewTextStream(StreamOptions{ID: "1", Model: "m"})
	if got, want := string(text.Reasoning(nil, "hm")), string(text.Text(nil, "hm")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDecoderKnowsWhetherThereIsMore(t *testing.T) {
	for input, want := range map[string]bool{
		"data: 1\n\ndata: 2\n\n":         true,
		"data: 1\r\n\r\ndata: 2\r\n\r\n": true,
		"data: 1\n\ndata: 2\n":           false,
		"data: 1\n\n":                    false,
	} {
		d := NewDecoder(strings.NewReader(input), 100)
		if _, err := d.Next(); err != nil {
			t.Fatal(err)
		}
		if got := d.More(); got != want {
			t.Errorf("after the first event of %q there is more: %v", input, got)
		}
	}
}
