package openai

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// A Stream writes the chunks of one streamed answer as server-sent events. It
// encodes what the chunks have in common once. Its methods append an event to b
// and return the result.
type Stream struct {
	frame
}

// A frame is what all chunks of an answer have in common.
type frame struct {
	head  []byte // `data: {... "choices":[`
	tail  []byte // `]...}` and the end of the event
	index int    // of the choice
}

// StreamOptions are what the chunks of one streamed answer have in common.
type StreamOptions struct {
	ID      string
	Model   string
	Created int64 // Unix time in seconds
	Index   int   // of the choice, if there are several
	// IncludeUsage gives every chunk a usage field, null until the last, as
	// OpenAI does when stream_options.include_usage is set.
	IncludeUsage bool
}

// NewStream begins an answer.
func NewStream(o StreamOptions) *Stream {
	return &Stream{newFrame("chat.completion.chunk", o)}
}

func newFrame(object string, o StreamOptions) frame {
	s := frame{index: o.Index}
	s.head = append(s.head, `data: {"id":`...)
	s.head = appendString(s.head, o.ID)
	s.head = append(s.head, `,"object":"`+object+`","created":`...)
	s.head = strconv.AppendInt(s.head, o.Created, 10)
	s.head = append(s.head, `,"model":`...)
	s.head = appendString(s.head, o.Model)
	s.head = append(s.head, `,"choices":[`...)
	s.tail = append(s.tail, ']')
	if o.IncludeUsage {
		s.tail = append(s.tail, `,"usage":null`...)
	}
	s.tail = append(s.tail, "}\n\n"...)
	return s
}

// Role is the first chunk: it names the role and has no text yet.
func (s *Stream) Role(b []byte) []byte {
	b = append(b, s.head...)
	b = append(s.choice(b), `"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}`...)
	return append(b, s.tail...)
}

// Text adds text to the answer.
func (s *Stream) Text(b []byte, text string) []byte {
	return s.delta(b, `"delta":{"content":`, text)
}

// Reasoning adds to the thoughts before the answer.
func (s *Stream) Reasoning(b []byte, thoughts string) []byte {
	return s.delta(b, `"delta":{"reasoning_content":`, thoughts)
}

// Parts adds text to the answer, and what belongs to it, but for thoughts and the stop
// sequence. Each call has a chunk of its own, as OpenAI sends them: clients look at the
// first call of a delta, and at calls or text.
func (s *Stream) Parts(b []byte, text string, p *Parts) []byte {
	if text != "" || p.Refusal != "" || p.Logprobs != nil {
		choice := ChunkChoice{Index: s.index, Logprobs: p.Logprobs}
		if text != "" {
			choice.Delta.Content = &text
		}
		if p.Refusal != "" {
			choice.Delta.Refusal = &p.Refusal
		}
		b = s.chunk(b, choice)
	}
	for i := range p.ToolCalls {
		b = s.chunk(b, ChunkChoice{Index: s.index, Delta: Delta{ToolCalls: p.ToolCalls[i : i+1]}})
	}
	return b
}

func (s *Stream) chunk(b []byte, choice ChunkChoice) []byte {
	encoded, err := Encode(choice)
	if err != nil { // impossible for parts that were decoded
		return b
	}
	b = append(b, s.head...)
	b = append(b, encoded...)
	return append(b, s.tail...)
}

func (s *Stream) delta(b []byte, open, text string) []byte {
	b = append(b, s.head...)
	b = append(s.choice(b), open...)
	b = appendString(b, text)
	b = append(b, `},"logprobs":null,"finish_reason":null}`...)
	return append(b, s.tail...)
}

// Finish is the last chunk of the answer.
func (s *Stream) Finish(b []byte, reason string) []byte {
	b = append(b, s.head...)
	b = append(s.choice(b), `"delta":{},"logprobs":null,"finish_reason":`...)
	b = appendString(b, reason)
	b = append(b, '}')
	return append(b, s.tail...)
}

// choice begins a choice with its index.
func (s *frame) choice(b []byte) []byte {
	b = append(b, `{"index":`...)
	b = strconv.AppendInt(b, int64(s.index), 10)
	return append(b, ',')
}

// Usage is the chunk after the last, for clients that ask for it. It has no
// choices.
func (s *frame) Usage(b []byte, u Usage) []byte {
	encoded, err := Encode(u)
	if err != nil { // impossible for numbers
		return b
	}
	b = append(append(b, s.head...), `],"usage":`...)
	return append(append(b, encoded...), "}\n\n"...)
}

// Done is the event that ends a complete answer.
func (s *frame) Done(b []byte) []byte { return append(b, "data: "+Done+"\n\n"...) }

// Fail is the event that ends an answer with an error, without Done after it.
func (s *frame) Fail(b []byte, e *Error) []byte {
	encoded, err := e.MarshalJSON()
	if err != nil { // impossible for an Error
		return b
	}
	return AppendEvent(b, encoded)
}

// A TextStream writes the chunks of a streamed completion; see Stream.
type TextStream struct {
	frame
	offset textOffset
}

// NewTextStream begins an answer to a completion; see NewStream.
func NewTextStream(o StreamOptions) *TextStream {
	return &TextStream{frame: newFrame("text_completion", o)}
}

// Role appends nothing: a completion has no role.
func (s *TextStream) Role(b []byte) []byte { return b }

// Text adds text to the answer.
func (s *TextStream) Text(b []byte, text string) []byte {
	b = append(b, s.head...)
	b = append(b, `{"text":`...)
	b = appendString(b, text)
	b = s.rest(b)
	b = append(b, `null}`...)
	return append(b, s.tail...)
}

// Reasoning adds to the answer: a completion has no other place for it.
func (s *TextStream) Reasoning(b []byte, thoughts string) []byte { return s.Text(b, thoughts) }

// Parts adds text to the answer, and its log probabilities: a completion has no
// place for the rest.
func (s *TextStream) Parts(b []byte, text string, p *Parts) []byte {
	choice := CompletionChoice{Index: s.index, Text: text, Logprobs: s.offset.completion(p.Logprobs)}
	if choice.Logprobs == nil {
		if text == "" {
			return b
		}
		return s.Text(b, text)
	}
	encoded, err := Encode(choice)
	if err != nil { // impossible for parts that were decoded
		return s.Text(b, text)
	}
	b = append(b, s.head...)
	b = append(b, encoded...)
	return append(b, s.tail...)
}

// Finish is the last chunk of the answer.
func (s *TextStream) Finish(b []byte, reason string) []byte {
	b = append(b, s.head...)
	b = s.rest(append(b, `{"text":""`...))
	b = appendString(b, reason)
	b = append(b, '}')
	return append(b, s.tail...)
}

// rest appends what follows the text of a choice, up to the reason of its end.
func (s *TextStream) rest(b []byte) []byte {
	b = append(b, `,"index":`...)
	b = strconv.AppendInt(b, int64(s.index), 10)
	return append(b, `,"logprobs":null,"finish_reason":`...)
}

// appendString appends s as a JSON string.
func appendString(b []byte, s string) []byte {
	if isPlain(s) {
		b = append(b, '"')
		b = append(b, s...)
		return append(b, '"')
	}
	quoted, err := Encode(s)
	if err != nil { // impossible for a string
		quoted, _ = json.Marshal(err.Error())
	}
	return append(b, quoted...)
}

// isPlain reports whether s stands for itself in JSON.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			return false
		}
	}
	return utf8.ValidString(s)
}
