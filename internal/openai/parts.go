package openai

import (
	"encoding/json"
	"slices"
)

// Parts are what a piece of an answer holds beside its text.
type Parts struct {
	Reasoning  string      `json:"reasoning,omitempty"` // thoughts, before the text
	Refusal    string      `json:"refusal,omitempty"`
	ToolCalls  []ToolCall  `json:"tool_calls,omitempty"` // after the text
	Logprobs   *Logprobs   `json:"logprobs,omitempty"`   // of the text
	Embeddings []Embedding `json:"embeddings,omitempty"`
	// StopSequence is the one of the request that ended the answer. Answers of OpenAI
	// have no place for it.
	StopSequence string `json:"stop_sequence,omitempty"`
}

// A ToolCall is a piece of a call in a stream, or a whole call.
type ToolCall struct {
	Index    int          `json:"index"` // of the call in the answer
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function ToolFunction `json:"function"`
}

// A ToolFunction is what a ToolCall calls. Arguments are JSON in a string, which
// comes in pieces.
type ToolFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// Logprobs are the log probabilities of tokens, each an object of OpenAI's.
type Logprobs struct {
	Content []json.RawMessage `json:"content"`
	Refusal []json.RawMessage `json:"refusal"`
}

// An Embedding is the vector of one input, in base64: float32, little endian.
type Embedding struct {
	Index  int    `json:"index"`
	Vector string `json:"vector"`
}

// Precedes reports whether a piece with the text and the parts may be added to p,
// which has text or not, without a change of the order: thoughts come first, then
// text, then calls of tools. A nil p, or next, has nothing.
func (p *Parts) Precedes(hasText bool, text string, next *Parts) bool {
	calls := p != nil && len(p.ToolCalls) > 0
	if calls && text != "" {
		return false
	}
	return next == nil || next.Reasoning == "" || !calls && !hasText
}

// Add appends the next parts of the same answer. It keeps no memory of next that
// it changes later.
func (p *Parts) Add(next *Parts) {
	if next == nil {
		return
	}
	p.Reasoning += next.Reasoning
	p.Refusal += next.Refusal
	for _, call := range next.ToolCalls {
		p.addCall(call)
	}
	if l := next.Logprobs; l != nil {
		if p.Logprobs == nil {
			p.Logprobs = &Logprobs{}
		}
		p.Logprobs.Content = append(p.Logprobs.Content, l.Content...)
		p.Logprobs.Refusal = append(p.Logprobs.Refusal, l.Refusal...)
	}
	p.Embeddings = append(p.Embeddings, next.Embeddings...)
	if next.StopSequence != "" {
		p.StopSequence = next.StopSequence
	}
}

// addCall appends a piece of a call to the call of its index, if that is there.
func (p *Parts) addCall(piece ToolCall) {
	i := slices.IndexFunc(p.ToolCalls, func(c ToolCall) bool { return c.Index == piece.Index })
	if i < 0 {
		p.ToolCalls = append(p.ToolCalls, piece)
		return
	}
	call := &p.ToolCalls[i]
	if piece.ID != "" {
		call.ID = piece.ID
	}
	if piece.Type != "" {
		call.Type = piece.Type
	}
	call.Function.Name += piece.Function.Name
	call.Function.Arguments += piece.Function.Arguments
}

// IsEmpty reports whether there is nothing but thoughts, which have a place of
// their own.
func (p *Parts) IsEmpty() bool {
	return p.Refusal == "" && len(p.ToolCalls) == 0 && p.Logprobs == nil && len(p.Embeddings) == 0 && p.StopSequence == ""
}

// Size returns the bytes of the parts, about as many as their JSON has.
func (p *Parts) Size() int {
	if p == nil {
		return 0
	}
	n := len(p.Reasoning) + len(p.Refusal) + len(p.StopSequence)
	for _, call := range p.ToolCalls {
		n += len(call.ID) + len(call.Type) + len(call.Function.Name) + len(call.Function.Arguments) + 64
	}
	if p.Logprobs != nil {
		for _, token := range slices.Concat(p.Logprobs.Content, p.Logprobs.Refusal) {
			n += len(token)
		}
	}
	for _, e := range p.Embeddings {
		n += len(e.Vector) + 32
	}
	return n
}
