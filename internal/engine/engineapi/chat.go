package engineapi

import (
	"encoding/json"
	"maps"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
)

// A Chat asks for the next message of a conversation.
type Chat struct {
	Messages    []openai.Message // at least one
	MaxTokens   int              // 0: until the end of the context
	Temperature *float64         // nil: the engine's default
	TopP        *float64
	Seed        *int64 // nil: the generator continues where it is
	// Stop is a hint: upstream accepts it without effect, so callers look for
	// the sequences themselves.
	Stop []string

	// Featured are parameters that need a feature. An engine without it does not
	// get the request.
	Featured map[string]json.RawMessage

	// What follows is for servers only.

	Operation openai.Operation           // openai.OperationCompletion: the prompt is the only message
	More      map[string]json.RawMessage // parameters that some servers honour
}

// decodeChat decodes the normal form of a chat.
func decodeChat(op openai.Operation, body []byte) (Request, openai.Request, error) {
	chat, err := openai.ParseChat(body)
	if err != nil {
		return nil, openai.Request{}, err
	}
	return Chat{
		Messages:    chat.Messages,
		MaxTokens:   chat.MaxTokens,
		Temperature: chat.Temperature,
		TopP:        chat.TopP,
		Seed:        chat.Seed,
		Stop:        chat.Stop,
		Operation:   op,
		More:        union(chat.Hints, chat.Extra),
		Featured:    chat.Featured,
	}, chat.Request(op), nil
}

func union(a, b map[string]json.RawMessage) map[string]json.RawMessage {
	if len(a) == 0 {
		return b
	}
	a = maps.Clone(a)
	maps.Copy(a, b)
	return a
}

func (c Chat) call() (call, error) {
	body, err := c.encode()
	return call{path: "/v1/chat/completions", body: body, maxTokens: c.MaxTokens, contentType: "text/event-stream", read: (*exchange).events}, err
}

// wireRequest holds the fields that upstream reads, in types that it accepts:
// it aborts on a null or a list where it expects a string.
type wireRequest struct {
	Messages    []wireMessage `json:"messages"`
	Stream      bool          `json:"stream"`
	MaxTokens   int           `json:"max_tokens,omitempty"`
	Seed        *uint64       `json:"seed,omitempty"`
	Temperature *float64      `json:"temperature,omitempty"`
	TopP        *float64      `json:"top_p,omitempty"`
	Stop        []string      `json:"stop,omitempty"`
}

// wireMessage has fields that only engines with tools get.
type wireMessage struct {
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	ToolCalls  json.RawMessage `json:"tool_calls,omitempty"`
	ToolCallID string          `json:"tool_call_id,omitempty"`
}

func (c Chat) encode() ([]byte, error) {
	if len(c.Messages) == 0 {
		// Upstream takes an empty chat and generates until the context is full.
		return nil, fault.Errorf(fault.Invalid, "cannot ask the engine: there are no messages")
	}
	w := wireRequest{Stream: true, MaxTokens: max(c.MaxTokens, 0), Temperature: c.Temperature, TopP: c.TopP, Stop: c.Stop}
	for _, m := range c.Messages {
		w.Messages = append(w.Messages, wireMessage{Role: string(m.Role), Content: m.Content, ToolCalls: m.ToolCalls, ToolCallID: m.ToolCallID})
	}
	if c.Seed != nil {
		w.Seed = seed(*c.Seed)
	}
	body, err := json.Marshal(w)
	if err == nil && len(c.Featured) > 0 {
		body, err = withFields(body, c.Featured)
	}
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot ask the engine: %w", err)
	}
	return body, nil
}

// withFields adds fields to an object.
func withFields(object []byte, more map[string]json.RawMessage) ([]byte, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		return nil, err
	}
	maps.Copy(all, more)
	return json.Marshal(all)
}

// seed maps any seed to one that the engine can use: its generator is an
// xorshift, which stays at 0.
func seed(s int64) *uint64 {
	u := uint64(s) & (1<<63 - 1)
	if u == 0 {
		u = 0x9e3779b97f4a7c15 & (1<<63 - 1) // an arbitrary constant
	}
	return &u
}
