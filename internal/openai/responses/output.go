package responses

import (
	"encoding/json"

	"github.com/gorizond/koldun/internal/openai"
)

// An outputItem is one item of an output: a message, a call or thoughts.
type outputItem interface {
	id() string
	json(status string) json.RawMessage // the item so far
}

// A part is one of a message or of thoughts.
type part struct {
	Type        string             `json:"type"`
	Text        *string            `json:"text,omitempty"`
	Refusal     *string            `json:"refusal,omitempty"`
	Annotations *[]json.RawMessage `json:"annotations,omitempty"`
	Logprobs    *[]json.RawMessage `json:"logprobs,omitempty"`
}

func outputText(text string, logprobs []json.RawMessage) part {
	if logprobs == nil {
		logprobs = []json.RawMessage{}
	}
	return part{Type: "output_text", Text: &text, Annotations: &[]json.RawMessage{}, Logprobs: &logprobs}
}

func refusal(text string) part       { return part{Type: "refusal", Refusal: &text} }
func reasoningText(text string) part { return part{Type: "reasoning_text", Text: &text} }
func summaryText(text string) part   { return part{Type: "summary_text", Text: &text} }

// content is a part that grows.
type content struct {
	kind     string
	text     []byte
	logprobs []json.RawMessage
}

func (c *content) part() part {
	switch c.kind {
	case kindRefusal:
		return refusal(string(c.text))
	case kindThoughts:
		return reasoningText(string(c.text))
	}
	return outputText(string(c.text), c.logprobs)
}

func (c *content) empty() part { return (&content{kind: c.kind}).part() }

// The kinds of content.
const (
	kindText     = "text"
	kindRefusal  = "refusal"
	kindThoughts = "thoughts"
)

// textItem is a message, or thoughts.
type textItem struct {
	itemID string
	kind   string // of its content: kindThoughts, or else it is a message
	parts  []*content
	// summarized thoughts have themselves as their summary, which is all that many clients
	// show. No engine makes a shorter one.
	summarized bool
}

func (t *textItem) id() string { return t.itemID }

func (t *textItem) json(status string) json.RawMessage {
	parts := make([]part, 0, len(t.parts))
	for _, c := range t.parts {
		parts = append(parts, c.part())
	}
	return t.with(parts, status)
}

func (t *textItem) with(parts []part, status string) json.RawMessage {
	if t.kind == kindThoughts {
		return encode(thoughtsItem{KindReasoning, t.itemID, status, t.summary(parts), parts})
	}
	return encode(messageItem{KindMessage, t.itemID, status, openai.Assistant, parts})
}

func (t *textItem) summary(parts []part) []part {
	summary := []part{}
	for _, p := range parts {
		if t.summarized {
			summary = append(summary, summaryText(*p.Text))
		}
	}
	return summary
}

type thoughtsItem struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Status  string `json:"status"`
	Summary []part `json:"summary"`
	Content []part `json:"content"`
}

type messageItem struct {
	Type    string      `json:"type"`
	ID      string      `json:"id"`
	Status  string      `json:"status"`
	Role    openai.Role `json:"role"`
	Content []part      `json:"content"`
}

// added is the item before its first part.
func (t *textItem) added() json.RawMessage { return t.with([]part{}, statusInProgress) }

// callItem is a call of a function.
type callItem struct {
	itemID, callID string
	function       functionName
	arguments      []byte
	index          int // of the call in the chat
	at             int // in the output
}

func (c *callItem) id() string { return c.itemID }

func (c *callItem) json(status string) json.RawMessage {
	return encode(struct {
		Type      string `json:"type"`
		ID        string `json:"id"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Namespace string `json:"namespace,omitempty"`
		Arguments string `json:"arguments"`
		Status    string `json:"status"`
	}{KindCall, c.itemID, c.callID, c.function.name, c.function.namespace, string(c.arguments), status})
}

// encode is for types that always have a JSON form.
func encode(v any) json.RawMessage {
	b, err := openai.Encode(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}
