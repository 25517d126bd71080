package openai

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// A ChatRequest is the body of POST /v1/chat/completions in normal form:
// content is plain text, stop is a list, one field holds the token limit,
// parameters at their neutral value are gone.
//
// MarshalJSON writes that normal form and ParseChat reads it back unchanged, but for LeftOut.
type ChatRequest struct {
	Model        string
	Messages     []Message // at least one
	Stream       bool
	IncludeUsage bool     // stream_options.include_usage
	MaxTokens    int      // of the answer; 0 means up to the end of the context
	Temperature  *float64 // 0 to 2; nil means the engine's default
	TopP         *float64 // 0 to 1; nil means the engine's default
	Seed         *int64   // nil means random
	Stop         []string // none of them empty
	Choices      int      // answers that the client wants, above 1; 0 is one
	User         string
	Reasoning    Reasoning

	// Hints are parameters that shape the sampling in ways no engine of ours
	// knows (penalties, biases, effort), with their raw values.
	Hints map[string]json.RawMessage
	// Extra are the fields that are not known here.
	Extra map[string]json.RawMessage
	// Featured are parameters that need a feature of the engine, with their raw
	// values, and Needs what they and the messages need.
	Featured map[string]json.RawMessage
	Needs    []Need

	// LeftOut are the kinds of parts that no engine can honour and without which the request
	// is answered, such as an image in the history, see StandIn; sorted.
	LeftOut []string
}

// A Role is the author of a message.
type Role string

// The roles. ParseChat turns "developer" into System.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool" // the result of a tool
)

// A Message is one turn of a conversation.
type Message struct {
	Role    Role
	Content string // parts of text are joined by newlines
	Name    string
	// ToolCalls are the calls in a message of the Assistant, as the client sends
	// them, and ToolCallID is the one that a message of a Tool answers.
	ToolCalls  json.RawMessage
	ToolCallID string
	Extra      map[string]json.RawMessage // fields that are not known here
}

// Ignored names what the request asked for and does not get: hints and
// unknown fields, sorted.
func (r ChatRequest) Ignored() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(r.Hints)), maps.Keys(r.Extra))
	slices.Sort(names)
	return names
}

// MarshalJSON writes the normal form.
func (r ChatRequest) MarshalJSON() ([]byte, error) {
	out := make(map[string]any, 10+len(r.Hints)+len(r.Extra)+len(r.Featured))
	for k, v := range r.Extra {
		out[k] = v
	}
	for k, v := range r.Hints {
		out[k] = v
	}
	for k, v := range r.Featured {
		out[k] = v
	}
	out["model"] = r.Model
	out["messages"] = r.Messages
	if r.Stream {
		out["stream"] = true
	}
	if r.IncludeUsage {
		out["stream_options"] = map[string]bool{"include_usage": true}
	}
	if r.MaxTokens > 0 {
		out["max_completion_tokens"] = r.MaxTokens
	}
	if r.Temperature != nil {
		out["temperature"] = *r.Temperature
	}
	if r.TopP != nil {
		out["top_p"] = *r.TopP
	}
	if r.Seed != nil {
		out["seed"] = *r.Seed
	}
	if len(r.Stop) > 0 {
		out["stop"] = r.Stop
	}
	if r.Choices > 1 {
		out["n"] = r.Choices
	}
	if r.User != "" {
		out["user"] = r.User
	}
	r.Reasoning.wire(out)
	b := bytes.NewBuffer(make([]byte, 0, r.size()))
	err := writeObject(b, out)
	return b.Bytes(), err
}

// size estimates the bytes of the normal form.
func (r ChatRequest) size() int {
	const frame = 64 // of a message
	n := 256
	for _, m := range r.Messages {
		n += frame + len(m.Content) + len(m.Content)/16 + len(m.ToolCalls) + len(m.ToolCallID)
	}
	for _, fields := range []map[string]json.RawMessage{r.Extra, r.Hints, r.Featured} {
		for k, v := range fields {
			n += len(k) + len(v) + 4
		}
	}
	return n
}

// Logprobs returns whether the answer shall have log probabilities, and how many
// alternatives of each token.
func (r ChatRequest) Logprobs() (wanted bool, alternatives int) {
	_ = json.Unmarshal(r.Featured["logprobs"], &wanted) // ParseChat has checked both
	_ = json.Unmarshal(r.Featured["top_logprobs"], &alternatives)
	return wanted, alternatives
}

// UnmarshalJSON is ParseChat.
func (r *ChatRequest) UnmarshalJSON(b []byte) error {
	parsed, err := ParseChat(b)
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}

// MarshalJSON writes the normal form.
func (m Message) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := m.write(&b)
	return b.Bytes(), err
}

func (m Message) write(b *bytes.Buffer) error {
	if len(m.Extra) == 0 {
		o := objectWriter{b: b}
		o.field("role", string(m.Role))
		o.field("content", m.Content)
		if m.Name != "" {
			o.field("name", m.Name)
		}
		if m.ToolCalls != nil {
			o.field("tool_calls", m.ToolCalls)
		}
		if m.ToolCallID != "" {
			o.field("tool_call_id", m.ToolCallID)
		}
		return o.end()
	}
	out := make(map[string]any, 5+len(m.Extra))
	for k, v := range m.Extra {
		out[k] = v
	}
	out["role"], out["content"] = string(m.Role), m.Content
	if m.Name != "" {
		out["name"] = m.Name
	}
	if m.ToolCalls != nil {
		out["tool_calls"] = m.ToolCalls
	}
	if m.ToolCallID != "" {
		out["tool_call_id"] = m.ToolCallID
	}
	return writeObject(b, out)
}
