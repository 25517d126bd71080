package responses

import (
	"encoding/base64"
	"encoding/json"

	"github.com/gorizond/koldun/internal/openai"
)

// maxItemID is the length of the longest id of an item that is stored. Only ids that this
// server gave are referred to, and those are shorter.
const maxItemID = 128

// A storedItem is an item as it is stored: what was understood of it and reaches the
// model, and nothing else that a client has written into it.
type storedItem struct {
	Type      string      `json:"type"`
	ID        string      `json:"id,omitempty"`
	Role      openai.Role `json:"role,omitempty"`
	Content   any         `json:"content,omitempty"`
	CallID    string      `json:"call_id,omitempty"`
	Name      string      `json:"name,omitempty"`
	Namespace string      `json:"namespace,omitempty"`
	Arguments *string     `json:"arguments,omitempty"`
	Output    *string     `json:"output,omitempty"`
	Encrypted string      `json:"encrypted_content,omitempty"`
}

// stored returns the item in a form that can be parsed again; false for one that the model
// does not read.
func (item *Item) stored() (json.RawMessage, bool) {
	out := storedItem{Type: item.Kind, CallID: item.CallID, Name: item.function.name, Namespace: item.function.namespace}
	if len(item.ID) <= maxItemID {
		out.ID = item.ID
	}
	switch item.Kind {
	case KindMessage:
		out.Role, out.Content = item.Role, item.Text
	case KindCall:
		out.Arguments = &item.Arguments
	case KindCallOutput:
		out.Output = &item.Text
	case KindReasoning:
		out.Content = []part{reasoningText(item.Text)}
	case KindCompaction:
		out.Encrypted = compacted{Version: 1, Summary: item.Text}.encode()
	default:
		return nil, false
	}
	return encode(out), true
}

func (c compacted) encode() string { return base64.StdEncoding.EncodeToString(encode(c)) }
