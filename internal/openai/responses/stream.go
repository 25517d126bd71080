package responses

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gorizond/koldun/internal/openai"
)

// A Stream turns the pieces of a chat's answer into the items of a response, and
// writes its events. Its methods append events to b and return the result. Thoughts
// come first, then text, then calls.
//
// Calls stay open until the answer ends: pieces of several may alternate.
type Stream struct {
	request  *Request
	response *Response
	sequence int
	silent   bool // the client wants no events

	output  []outputItem
	current *textItem // open, or nil
	at      int       // of current in the output
	calls   []*callItem
	refused map[int]bool // calls, by index, of functions that may not be called
	finish  string
	items   map[int]json.RawMessage // that are done, by their place in the output
	options Options
}

// NewStream begins an answer.
func NewStream(r *Request, o Options) *Stream {
	return &Stream{
		request: r, response: r.newResponse(o), refused: map[int]bool{}, items: map[int]json.RawMessage{}, options: o,
	}
}

// NewResponse returns a complete answer. The parts have no thoughts.
func NewResponse(r *Request, o Options, thoughts, text string, p *openai.Parts, finish string, usage *openai.Usage) *Response {
	s := NewStream(r, o)
	s.silent = true
	if thoughts != "" {
		s.Reasoning(nil, thoughts)
	}
	s.Parts(nil, text, p)
	s.Finish(nil, finish)
	if usage != nil {
		s.Usage(nil, *usage)
	}
	s.Done(nil)
	return s.response
}

// Response returns the response as it is so far.
func (s *Stream) Response() *Response { return s.response }

// Role is the begin of the answer.
func (s *Stream) Role(b []byte) []byte {
	b = s.event(b, event{Type: "response.created", Response: s.response})
	return s.event(b, event{Type: "response.in_progress", Response: s.response})
}

// Text adds text to the answer.
func (s *Stream) Text(b []byte, text string) []byte { return s.text(b, kindText, text, nil) }

// Reasoning adds to the thoughts before the answer.
func (s *Stream) Reasoning(b []byte, thoughts string) []byte {
	return s.text(b, kindThoughts, thoughts, nil)
}

// Parts adds text to the answer, and what belongs to it, but for thoughts.
func (s *Stream) Parts(b []byte, text string, p *openai.Parts) []byte {
	var logprobs []json.RawMessage
	if p.Logprobs != nil {
		logprobs = withBytes(p.Logprobs.Content)
	}
	if text != "" || len(logprobs) > 0 {
		b = s.text(b, kindText, text, logprobs)
	}
	if p.Refusal != "" {
		b = s.text(b, kindRefusal, p.Refusal, nil)
	}
	for _, piece := range p.ToolCalls {
		b = s.call(b, piece)
	}
	return b
}

// text adds to the part of the given kind, which it opens if need be.
func (s *Stream) text(b []byte, kind, text string, logprobs []json.RawMessage) []byte {
	if s.current != nil && (s.current.kind == kindThoughts) != (kind == kindThoughts) {
		b = s.closeText(b, statusCompleted)
	}
	if s.current == nil {
		prefix := "msg_"
		if kind == kindThoughts {
			prefix = "rs_"
		}
		s.at = len(s.output)
		s.current = &textItem{itemID: s.itemID(prefix), kind: kind, summarized: kind == kindThoughts && s.request.summarized()}
		s.output = append(s.output, s.current)
		b = s.event(b, event{Type: "response.output_item.added", OutputIndex: &s.at, Item: s.current.added()})
	}
	last := len(s.current.parts) - 1
	if last < 0 || s.current.parts[last].kind != kind {
		if last >= 0 {
			b = s.closePart(b)
		}
		last++
		s.current.parts = append(s.current.parts, &content{kind: kind})
		b = s.event(b, s.inPart(event{Type: "response.content_part.added", Part: s.current.parts[last].empty()}))
		b = s.summary(b, event{Type: "response.reasoning_summary_part.added", Part: summaryText("")})
	}
	c := s.current.parts[last]
	c.text = append(c.text, text...)
	c.logprobs = append(c.logprobs, logprobs...)
	e := event{Type: "response.reasoning_text.delta", Delta: &text}
	switch kind {
	case kindThoughts:
		b = s.summary(b, event{Type: "response.reasoning_summary_text.delta", Delta: &text})
	case kindText:
		e.Type, e.Logprobs = "response.output_text.delta", list(logprobs)
	case kindRefusal:
		e.Type = "response.refusal.delta"
	}
	return s.event(b, s.inPart(e))
}

// closePart ends the open part of the current item.
func (s *Stream) closePart(b []byte) []byte {
	c := s.current.parts[len(s.current.parts)-1]
	text := string(c.text)
	e := event{Type: "response.reasoning_text.done", Text: &text}
	switch c.kind {
	case kindThoughts:
		b = s.summary(b, event{Type: "response.reasoning_summary_text.done", Text: &text})
		b = s.summary(b, event{Type: "response.reasoning_summary_part.done", Part: summaryText(text)})
	case kindText:
		e.Type, e.Logprobs = "response.output_text.done", list(c.logprobs)
	case kindRefusal:
		e = event{Type: "response.refusal.done", Refusal: &text}
	}
	b = s.event(b, s.inPart(e))
	return s.event(b, s.inPart(event{Type: "response.content_part.done", Part: c.part()}))
}

// summary appends an event of the summary of the current item, if it has one.
func (s *Stream) summary(b []byte, e event) []byte {
	if !s.current.summarized {
		return b
	}
	index := len(s.current.parts) - 1
	e.ItemID, e.OutputIndex, e.SummaryIndex = s.current.itemID, &s.at, &index
	return s.event(b, e)
}

// closeText ends the current item, if there is one.
func (s *Stream) closeText(b []byte, status string) []byte {
	if s.current == nil {
		return b
	}
	b = s.closePart(b)
	item := s.current.json(status)
	s.current = nil
	return s.itemDone(b, s.at, item)
}

// call adds a piece of a call. A call of a function that is not allowed is left out.
func (s *Stream) call(b []byte, piece openai.ToolCall) []byte {
	if s.refused[piece.Index] {
		return b
	}
	b = s.closeText(b, statusCompleted)
	i := slices.IndexFunc(s.calls, func(c *callItem) bool { return c.index == piece.Index })
	if i < 0 {
		called := s.request.called(piece.Function.Name)
		if !s.request.choice.permits(called) {
			s.refused[piece.Index] = true
			return b
		}
		c := &callItem{index: piece.Index, itemID: s.itemID("fc_"), function: called, at: len(s.output)}
		c.callID = cmp.Or(piece.ID, fmt.Sprintf("call_%s%d", s.options.ID, c.at))
		s.output, s.calls, i = append(s.output, c), append(s.calls, c), len(s.calls)
		b = s.event(b, event{Type: "response.output_item.added", OutputIndex: &c.at, Item: c.json(statusInProgress)})
	}
	c := s.calls[i]
	if piece.Function.Arguments == "" {
		return b
	}
	c.arguments = append(c.arguments, piece.Function.Arguments...)
	return s.event(b, event{Type: "response.function_call_arguments.delta", ItemID: c.itemID, OutputIndex: &c.at, Delta: &piece.Function.Arguments})
}

// Finish is the end of the output.
func (s *Stream) Finish(b []byte, reason string) []byte {
	s.finish = reason
	if len(s.output) == 0 { // clients expect an item
		b = s.Text(b, "")
	}
	status := statusCompleted
	if s.incomplete() != "" {
		status = statusIncomplete
	}
	for i, c := range s.calls {
		// Only the last item can have been cut.
		own := statusCompleted
		if i == len(s.calls)-1 && s.current == nil {
			own = status
		}
		if len(c.arguments) == 0 && own == statusCompleted {
			c.arguments = []byte("{}")
		}
		arguments := string(c.arguments)
		b = s.event(b, event{Type: "response.function_call_arguments.done", ItemID: c.itemID, OutputIndex: &c.at, Name: c.function.name, Arguments: &arguments})
		b = s.itemDone(b, c.at, c.json(own))
	}
	return s.closeText(b, status)
}

// incomplete returns why the answer is, or "".
func (s *Stream) incomplete() string {
	switch s.finish {
	case openai.FinishLength:
		return "max_output_tokens"
	case "content_filter":
		return s.finish
	}
	return ""
}

// Usage counts the tokens of the answer. The last event has them.
func (s *Stream) Usage(b []byte, u openai.Usage) []byte {
	s.response.Usage = newUsage(&u)
	return b
}

// Done is the end of the answer.
func (s *Stream) Done(b []byte) []byte {
	for at := range s.output {
		s.response.Output = append(s.response.Output, s.items[at])
	}
	if reason := s.incomplete(); reason != "" {
		s.response.Status, s.response.Incomplete = statusIncomplete, &Incomplete{Reason: reason}
	} else {
		s.response.Status, s.response.Completed = statusCompleted, new(s.options.Now().Unix())
	}
	s.response.Store = s.options.Keep != nil && s.options.Keep(s.response)
	return s.last(b, "response."+s.response.Status)
}

// Fail ends the answer with an error. The response keeps the items that were done.
func (s *Stream) Fail(b []byte, e *openai.Error) []byte {
	if s.sequence == 0 {
		b = s.Role(b)
	}
	for at := range s.output {
		if item := s.items[at]; item != nil {
			s.response.Output = append(s.response.Output, item)
		}
	}
	failed := Rename(e)
	s.response.Status, s.response.Error = statusFailed, &Failure{Code: cmp.Or(failed.Code, string(failed.Type)), Message: failed.Message}
	b = s.event(b, failureEvent(failed))
	return s.last(b, "response.failed")
}
