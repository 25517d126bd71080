package engineapi

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/gorizond/koldun/internal/openai"
)

// A chunk is the content of one event of a server's stream.
type chunk struct {
	text      string // of a chat or of a completion
	reasoning string
	refusal   string
	calls     []wireCall
	logprobs  *openai.Logprobs
	finish    string
	stop      string // sequence that ended the answer
	usage     *openai.Usage
	failed    *openai.Error // the event is an error
}

// wireChunk has the fields of all dialects: reasoning and reasoning_content are
// the same in newer and older servers.
type wireChunk struct {
	Choices []struct {
		Index int    `json:"index"`
		Text  string `json:"text"`
		Delta struct {
			Content          string     `json:"content"`
			Reasoning        string     `json:"reasoning"`
			ReasoningContent string     `json:"reasoning_content"`
			Refusal          string     `json:"refusal"`
			ToolCalls        []wireCall `json:"tool_calls"`
		} `json:"delta"`
		Logprobs     json.RawMessage `json:"logprobs"`
		FinishReason string          `json:"finish_reason"`
		// vLLM and SGLang say which stop sequence came, or the number of a token.
		StopReason  json.RawMessage `json:"stop_reason"`
		MatchedStop json.RawMessage `json:"matched_stop"`
	} `json:"choices"`
	Usage *openai.Usage   `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// decodeChunk reads an event.
func decodeChunk(data []byte) (chunk, error) {
	var w wireChunk
	if err := json.Unmarshal(data, &w); err != nil {
		return chunk{}, errors.New("an event is not a chunk of JSON")
	}
	if w.Choices == nil || holds(w.Error) {
		if e, failed := serverError(data); failed {
			return chunk{failed: e}, nil
		}
	}
	c := chunk{usage: w.Usage}
	for _, choice := range w.Choices {
		if choice.Index != 0 { // only one was asked for
			continue
		}
		c.text, c.refusal, c.calls, c.finish = choice.Delta.Content+choice.Text, choice.Delta.Refusal, choice.Delta.ToolCalls, choice.FinishReason
		if c.reasoning = choice.Delta.Reasoning; c.reasoning == "" {
			c.reasoning = choice.Delta.ReasoningContent
		}
		c.logprobs = decodeLogprobs(choice.Logprobs)
		c.stop = cmp.Or(stringOf(choice.StopReason), stringOf(choice.MatchedStop))
	}
	return c, nil
}

// stringOf returns a string of JSON, and "" for all else.
func stringOf(raw json.RawMessage) string {
	if len(raw) == 0 { // as nearly always
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// holds reports whether there is an error in a field that some servers always
// send.
func holds(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`, "{}":
		return false
	}
	return true
}

// decodeLogprobs reads those of chats and those of completions, which have another
// form. It returns nil if there are none.
func decodeLogprobs(raw json.RawMessage) *openai.Logprobs {
	if len(raw) == 0 {
		return nil
	}
	l := &openai.Logprobs{}
	if json.Unmarshal(raw, l) == nil && len(l.Content)+len(l.Refusal) > 0 {
		return l
	}
	var old openai.CompletionLogprobs
	if json.Unmarshal(raw, &old) == nil && len(old.Tokens) > 0 {
		return old.Content()
	}
	return nil
}

// parts returns what the chunk holds beside its text, or nil.
func (c chunk) parts(calls *toolCalls) *openai.Parts {
	if c.reasoning == "" && c.refusal == "" && len(c.calls) == 0 && c.logprobs == nil {
		return nil
	}
	return &openai.Parts{Reasoning: c.reasoning, Refusal: c.refusal, ToolCalls: calls.pieces(c.calls), Logprobs: c.logprobs}
}
