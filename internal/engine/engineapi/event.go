package engineapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/gorizond/koldun/internal/openai"
)

// A piece is the content of one event of a stream.
type piece struct {
	text     string
	refusal  string
	calls    []wireCall
	logprobs *openai.Logprobs
	finish   string
	stop     string // sequence that ended the answer
	usage    *openai.Usage
}

// parts returns what the piece holds beside its text, or nil.
func (p piece) parts(calls *toolCalls) *openai.Parts {
	return chunk{refusal: p.refusal, calls: p.calls, logprobs: p.logprobs}.parts(calls)
}

// decode reads an event. It reads only the fields that it needs: upstream's
// index may be garbage, its object is that of a complete answer, its finish
// reason is "" until the end, and its last event has no delta.
func decode(data []byte) (piece, error) {
	if text, ok := quick(data); ok {
		return piece{text: text}, nil
	}
	var event struct {
		Choices []struct {
			Delta *struct {
				Content   *string    `json:"content"`
				Refusal   string     `json:"refusal"`
				ToolCalls []wireCall `json:"tool_calls"`
			} `json:"delta"`
			Logprobs     json.RawMessage `json:"logprobs"`
			FinishReason *string         `json:"finish_reason"`
			StopReason   json.RawMessage `json:"stop_reason"` // see openai.ChunkChoice
		} `json:"choices"`
		Usage *openai.Usage   `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &event); err != nil {
		return piece{}, errors.New("an event is not valid JSON")
	}
	if len(event.Error) > 0 && string(event.Error) != "null" {
		e := &openai.Error{}
		if err := json.Unmarshal(data, e); err != nil || e.Message == "" {
			return piece{}, errors.New("the engine reports an error")
		}
		return piece{}, e
	}
	p := piece{usage: event.Usage}
	if len(event.Choices) == 0 {
		return p, nil
	}
	choice := event.Choices[0]
	if choice.Delta != nil {
		if choice.Delta.Content != nil {
			p.text = *choice.Delta.Content
		}
		p.refusal, p.calls = choice.Delta.Refusal, choice.Delta.ToolCalls
	}
	p.logprobs = decodeLogprobs(choice.Logprobs)
	if choice.FinishReason != nil {
		p.finish, p.stop = *choice.FinishReason, stringOf(choice.StopReason)
	}
	return p, nil
}

// The text that upstream writes around a piece of text.
const (
	beforeText = `{"choices":[{"delta":{"content":"`
	afterText  = `","role":"assistant"},"finish_reason":"","index":`
)

// quick reads an event that holds a piece of text without escapes, exactly as
// upstream writes it. Nearly all events are of this form. It does not read what
// follows the text, which has the same form in each event.
func quick(data []byte) (text string, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(beforeText))
	if !ok {
		return "", false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 || !bytes.HasPrefix(rest[end:], []byte(afterText)) || data[len(data)-1] != '}' {
		return "", false
	}
	for _, c := range rest[:end] {
		if c < ' ' || c == '\\' {
			return "", false
		}
	}
	if !utf8.Valid(rest[:end]) || bytes.Contains(rest[end+len(afterText):], []byte(`"usage"`)) {
		return "", false
	}
	return string(rest[:end]), true
}
