package responses

import (
	"encoding/json"
	"fmt"

	"github.com/gorizond/koldun/internal/openai"
)

// An event has the fields of all events; each event uses some.
type event struct {
	Type         string             `json:"type"`
	Sequence     int                `json:"sequence_number"`
	Response     *Response          `json:"response,omitempty"`
	ItemID       string             `json:"item_id,omitempty"`
	OutputIndex  *int               `json:"output_index,omitempty"`
	ContentIndex *int               `json:"content_index,omitempty"`
	SummaryIndex *int               `json:"summary_index,omitempty"`
	Item         json.RawMessage    `json:"item,omitempty"`
	Part         any                `json:"part,omitempty"`
	Delta        *string            `json:"delta,omitempty"`
	Text         *string            `json:"text,omitempty"`
	Refusal      *string            `json:"refusal,omitempty"`
	Name         string             `json:"name,omitempty"`
	Arguments    *string            `json:"arguments,omitempty"`
	Logprobs     *[]json.RawMessage `json:"logprobs,omitempty"`
	Error        *failure           `json:"error,omitempty"`
}

// failure is the error object in an event.
type failure struct {
	Type    openai.ErrorType `json:"type"`
	Code    *string          `json:"code"`
	Message string           `json:"message"`
	Param   *string          `json:"param"`
}

func failureEvent(e *openai.Error) event {
	f := &failure{Type: e.Type, Message: e.Message}
	if e.Code != "" {
		f.Code = &e.Code
	}
	if e.Param != "" {
		f.Param = &e.Param
	}
	return event{Type: "error", Error: f}
}

// event appends an event, with its type as the name of the event.
func (s *Stream) event(b []byte, e event) []byte {
	e.Sequence = s.sequence
	s.sequence++
	if s.silent {
		return b
	}
	b = append(b, "event: "+e.Type+"\n"...)
	return openai.AppendEvent(b, encode(e))
}

// inPart says in which part an event happens: the last one of the current item.
func (s *Stream) inPart(e event) event {
	index := len(s.current.parts) - 1
	e.ItemID, e.OutputIndex, e.ContentIndex = s.current.itemID, &s.at, &index
	return e
}

func (s *Stream) itemDone(b []byte, at int, item json.RawMessage) []byte {
	s.items[at] = item
	return s.event(b, event{Type: "response.output_item.done", OutputIndex: &at, Item: item})
}

// last appends the event that ends the stream, and the mark behind it.
func (s *Stream) last(b []byte, kind string) []byte {
	b = s.event(b, event{Type: kind, Response: s.response})
	if s.silent {
		return b
	}
	return append(b, "data: "+openai.Done+"\n\n"...)
}

func (s *Stream) itemID(prefix string) string {
	return fmt.Sprintf("%s%s%d", prefix, s.options.ID, len(s.output))
}

// list returns a list that is not null.
func list(items []json.RawMessage) *[]json.RawMessage {
	if items == nil {
		items = []json.RawMessage{}
	}
	return &items
}

// withBytes gives every log probability its bytes: chats may leave them null, and
// responses may not.
func withBytes(tokens []json.RawMessage) []json.RawMessage {
	type token struct {
		Token   string  `json:"token"`
		Logprob float64 `json:"logprob"`
		Bytes   []int   `json:"bytes"`
	}
	type ranked struct {
		token
		Top []token `json:"top_logprobs"`
	}
	fill := func(t *token) {
		if t.Bytes == nil {
			t.Bytes = []int{}
			for _, c := range []byte(t.Token) {
				t.Bytes = append(t.Bytes, int(c))
			}
		}
	}
	out := make([]json.RawMessage, 0, len(tokens))
	for _, raw := range tokens {
		var t ranked
		if json.Unmarshal(raw, &t) != nil {
			continue
		}
		fill(&t.token)
		for i := range t.Top {
			fill(&t.Top[i])
		}
		if t.Top == nil {
			t.Top = []token{}
		}
		out = append(out, encode(t))
	}
	return out
}
