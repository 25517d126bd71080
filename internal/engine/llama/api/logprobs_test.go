package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/engine/llama/api"
	"github.com/gorizond/koldun/internal/openai"
)

// chooses answers "Grüß" and leaves out the stop sequence that follows, whose
// tokens and end token have choices too.
func chooses(_ context.Context, r llama.Request, emit func(llama.Piece) error) (llama.Result, error) {
	choice := func(text string) llama.Choice {
		return llama.Choice{Text: text, LogProb: -1, Alternatives: []llama.Alternative{{Text: "x", LogProb: -.5}}[:r.Alternatives]}
	}
	for _, p := range []llama.Piece{
		{Text: "Begun: "},
		{Text: "Gr", Tokens: 1, Choices: []llama.Choice{choice("Gr")}},
		{Text: "ü", Tokens: 3, Choices: []llama.Choice{choice("\xc3"), choice("\xbc")}},
		{Text: "ß", Tokens: 6, Choices: []llama.Choice{choice("ß"), choice("END"), choice("")}},
	} {
		if err := emit(p); err != nil {
			return llama.Result{}, err
		}
	}
	return llama.Result{Finish: llama.FinishStop, PromptTokens: 1, Tokens: 6, PromptTime: 1, AnswerTime: 1}, nil
}

func TestLogprobs(t *testing.T) {
	s := serve(t, engineFunc(chooses), api.Options{})
	entry := func(token, bytes string) string {
		return `{"token":"` + token + `","logprob":-1,"bytes":[` + bytes + `],"top_logprobs":[{"token":"x","logprob":-0.5,"bytes":[120]}]}`
	}
	want := []string{entry("Gr", "71,114"), entry("\ufffd", "195"), entry("\ufffd", "188"), entry("ß", "195,159")}
	fields := with(`"logprobs":true,"top_logprobs":1`)

	resp, body := post(t, s.URL, fields)
	var whole openai.ChatCompletion
	if err := json.Unmarshal([]byte(body), &whole); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || whole.Choices[0].Message.Content != "Begun: Grüß" {
		t.Errorf("status %d: %s", resp.StatusCode, body)
	}
	if d := cmp.Diff(want, texts(whole.Choices[0].Logprobs)); d != "" {
		t.Errorf("whole (-want +got):\n%s", d)
	}

	_, body = post(t, s.URL, strings.TrimSuffix(fields, "}")+`,"stream":true}`)
	var got []string
	for line := range strings.Lines(body) {
		var chunk openai.Chunk
		if data, ok := strings.CutPrefix(line, "data: {"); ok && json.Unmarshal([]byte("{"+data), &chunk) == nil && len(chunk.Choices) == 1 {
			got = append(got, texts(chunk.Choices[0].Logprobs)...)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("streamed (-want +got):\n%s", d)
	}
}

func texts(l *openai.Logprobs) []string {
	if l == nil {
		return nil
	}
	var out []string
	for _, raw := range l.Content {
		out = append(out, string(raw))
	}
	return out
}
