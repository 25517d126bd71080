package messages

import (
	"github.com/gorizond/koldun/internal/openai"
)

// A Stream writes an answer as events: one block after another. The first call is
// written as it comes; pieces of others may come between, so they wait for its end.
type Stream struct {
	id, model string
	open      string // kind of the open block, or ""
	index     int    // of the open block, or else of the next
	calls     []openai.ToolCall
	refused   bool
	finish    string
	sequence  string // that ended the answer
	usage     usage
}

// NewStream begins an answer.
func NewStream(id, model string) *Stream { return &Stream{id: id, model: model} }

type event struct {
	Type    string   `json:"type"`
	Message *Message `json:"message,omitempty"`
	Index   *int     `json:"index,omitempty"`
	Block   *block   `json:"content_block,omitempty"`
	Delta   any      `json:"delta,omitempty"`
	Usage   *usage   `json:"usage,omitempty"`
}

type textDelta struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type thinkingDelta struct {
	Type     string `json:"type"`
	Thinking string `json:"thinking"`
}

type signatureDelta struct {
	Type      string `json:"type"`
	Signature string `json:"signature"`
}

type inputDelta struct {
	Type string `json:"type"`
	JSON string `json:"partial_json"`
}

func appendEvent(b []byte, kind string, v any) []byte {
	data, err := openai.Encode(v)
	if err != nil { // impossible for the types of this package
		return b
	}
	return openai.AppendEvent(append(b, "event: "+kind+"\n"...), data)
}

func (s *Stream) event(b []byte, e event) []byte { return appendEvent(b, e.Type, e) }

// Role is the begin of the answer. How many tokens the prompt has is known at the end.
func (s *Stream) Role(b []byte) []byte {
	m := newMessage(s.id, s.model)
	return s.event(b, event{Type: "message_start", Message: &m})
}

// Text adds text to the answer.
func (s *Stream) Text(b []byte, text string) []byte {
	b = s.begin(b, "text", block{Type: "text", Text: new("")})
	return s.delta(b, textDelta{"text_delta", text})
}

// Reasoning adds to the thoughts before the answer.
func (s *Stream) Reasoning(b []byte, thoughts string) []byte {
	b = s.begin(b, "thinking", block{Type: "thinking", Thinking: new(""), Signature: new("")})
	return s.delta(b, thinkingDelta{"thinking_delta", thoughts})
}

// Parts adds text to the answer, and what belongs to it, but for thoughts.
func (s *Stream) Parts(b []byte, text string, p *openai.Parts) []byte {
	if text != "" {
		b = s.Text(b, text)
	}
	if p.Refusal != "" {
		s.refused = true
		b = s.Text(b, p.Refusal)
	}
	for _, piece := range p.ToolCalls {
		b = s.piece(b, piece)
	}
	if p.StopSequence != "" {
		s.sequence = p.StopSequence
	}
	return b
}

func (s *Stream) piece(b []byte, piece openai.ToolCall) []byte {
	all := openai.Parts{ToolCalls: s.calls}
	all.Add(&openai.Parts{ToolCalls: []openai.ToolCall{piece}})
	s.calls = all.ToolCalls
	if piece.Index != s.calls[0].Index {
		return b
	}
	if s.open != "tool_use" {
		b = s.beginCall(b, 0)
	}
	return s.arguments(b, piece.Function.Arguments)
}

func (s *Stream) beginCall(b []byte, i int) []byte {
	c := s.calls[i]
	return s.begin(b, "tool_use", block{Type: "tool_use", ID: callID(c.ID, s.id, i), Name: c.Function.Name, Input: arguments("")})
}

func (s *Stream) arguments(b []byte, text string) []byte {
	if text == "" {
		return b
	}
	return s.delta(b, inputDelta{"input_json_delta", text})
}

// begin opens a block unless one of its kind is open.
func (s *Stream) begin(b []byte, kind string, first block) []byte {
	if s.open == kind {
		return b
	}
	b = s.end(b)
	s.open = kind
	return s.event(b, event{Type: "content_block_start", Index: new(s.index), Block: &first})
}

func (s *Stream) delta(b []byte, d any) []byte {
	return s.event(b, event{Type: "content_block_delta", Index: new(s.index), Delta: d})
}

// end closes the open block, if any.
func (s *Stream) end(b []byte) []byte {
	if s.open == "" {
		return b
	}
	if s.open == "thinking" {
		b = s.delta(b, signatureDelta{"signature_delta", ""})
	}
	s.open = ""
	s.index++
	return s.event(b, event{Type: "content_block_stop", Index: new(s.index - 1)})
}

// Finish is the end of the output.
func (s *Stream) Finish(b []byte, reason string) []byte {
	s.finish = reason
	b = s.end(b)
	for i := range s.calls {
		if i > 0 {
			b = s.end(s.arguments(s.beginCall(b, i), s.calls[i].Function.Arguments))
		}
	}
	return b
}

// Usage counts the tokens of the answer.
func (s *Stream) Usage(b []byte, u openai.Usage) []byte {
	s.usage = newUsage(&u)
	return b
}

// Done is the end of the answer.
func (s *Stream) Done(b []byte) []byte {
	b = s.event(b, event{Type: "message_delta", Delta: stopOf(s.finish, s.refused, len(s.calls) > 0, s.sequence), Usage: &s.usage})
	return s.event(b, event{Type: "message_stop"})
}

// Fail ends the answer with an error.
func (s *Stream) Fail(b []byte, e *openai.Error) []byte { return appendEvent(b, "error", Fail(e)) }
