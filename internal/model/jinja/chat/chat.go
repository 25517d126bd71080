// Package chat evaluates the chat template of a model for a conversation, with
// the variables that Hugging Face's transformers gives it: messages, tools and documents
// (None if there are none), add_generation_prompt, bos_token and eos_token.
package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/jinja"
)

// A Message is one turn of a conversation.
type Message struct {
	Role    string // "system", "user", "assistant" or "tool"
	Content string
	Calls   []Call // of tools, by the assistant
	CallID  string // the call that a message of a tool answers
	Name    string // of that tool
}

// A Call is a call of a tool.
type Call struct {
	ID, Name  string
	Arguments json.RawMessage // an object
}

// A Conversation is what a template renders.
type Conversation struct {
	Messages []Message
	Tools    json.RawMessage // an array of tools as in OpenAI's API, or nil
}

// A Template is the chat template of a model. It is safe for concurrent use.
type Template struct {
	template *jinja.Template
	source   string
	bos, eos string
}

// Parse parses a template that is rendered with the given texts of the begin
// and end tokens. The error is Unsupported and names line and construct.
func Parse(source, bos, eos string) (*Template, error) {
	t, err := jinja.Parse(source)
	if err != nil {
		return nil, fault.Errorf(fault.Unsupported, "cannot parse chat template: %w", err)
	}
	return &Template{template: t, source: source, bos: bos, eos: eos}, nil
}

// Prompt returns the text that continues a conversation with an answer, in
// segments: those of the template can hold control tokens, those of messages
// and tools are text only. The error is Invalid if the template refuses the
// conversation, Interrupted if ctx ends, else Unsupported.
func (t *Template) Prompt(ctx context.Context, c Conversation) ([]jinja.Segment, error) {
	out, err := t.evaluate(ctx, c)
	if err != nil {
		return nil, classify(ctx, err)
	}
	return out.Segments(), nil
}

// evaluate renders a conversation in the first style that works.
func (t *Template) evaluate(ctx context.Context, c Conversation) (jinja.Output, error) {
	out, err := t.prompt(ctx, c, style{})
	for _, other := range []style{{texts: c.calls()}, {absent: len(c.Tools) == 0}} {
		var e *jinja.Error
		if err == nil || other == (style{}) || ctx.Err() != nil || !errors.As(err, &e) || e.Reason == jinja.Exceeded {
			continue
		}
		if again, failed := t.prompt(ctx, c, other); failed == nil {
			out, err = again, nil
		}
	}
	return out, err
}

// A style is a way to give variables to a template. A few templates work with one only.
type style struct {
	texts  bool // arguments of calls are texts, not objects
	absent bool // tools that are not given are undefined, not None: templates for tools loop over them
}

func (t *Template) prompt(ctx context.Context, c Conversation, s style) (jinja.Output, error) {
	messages, err := list(c.Messages, s.texts)
	if err != nil {
		return jinja.Output{}, err
	}
	if s.absent {
		return t.render(ctx, jinja.Pair{Key: "messages", Value: messages})
	}
	tools := jinja.None() // as transformers does: templates ask "is not none"
	if len(c.Tools) > 0 {
		if tools, err = jinja.Decode(c.Tools); err != nil {
			return jinja.Output{}, err
		}
	}
	return t.render(ctx,
		jinja.Pair{Key: "messages", Value: messages},
		jinja.Pair{Key: "tools", Value: tools},
		jinja.Pair{Key: "documents", Value: jinja.None()},
	)
}

// calls reports whether a message has calls.
func (c Conversation) calls() bool {
	return slices.ContainsFunc(c.Messages, func(m Message) bool { return len(m.Calls) > 0 })
}

// list returns messages as a value. Arguments of calls are objects or texts.
func list(messages []Message, texts bool) (jinja.Value, error) {
	all := make([]jinja.Value, len(messages))
	for i, m := range messages {
		pairs := []jinja.Pair{{Key: "role", Value: role(m.Role)}, {Key: "content", Value: jinja.Text(m.Content)}}
		if len(m.Calls) > 0 {
			calls, err := callList(m.Calls, texts)
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, jinja.Pair{Key: "tool_calls", Value: calls})
		}
		if m.CallID != "" {
			pairs = append(pairs, jinja.Pair{Key: "tool_call_id", Value: jinja.Text(m.CallID)})
		}
		if m.Name != "" {
			pairs = append(pairs, jinja.Pair{Key: "name", Value: jinja.Text(m.Name)})
		}
		all[i] = jinja.Dict(pairs...)
	}
	return jinja.List(all...), nil
}

func callList(calls []Call, texts bool) (jinja.Value, error) {
	all := make([]jinja.Value, len(calls))
	for i, c := range calls {
		arguments := jinja.Text(string(c.Arguments))
		if !texts {
			var err error
			if arguments, err = jinja.Decode(c.Arguments); err != nil {
				return nil, err
			}
		}
		all[i] = jinja.Dict(
			jinja.Pair{Key: "id", Value: jinja.Text(c.ID)},
			jinja.Pair{Key: "type", Value: jinja.Literal("function")},
			jinja.Pair{Key: "function", Value: jinja.Dict(
				jinja.Pair{Key: "name", Value: jinja.Text(c.Name)},
				jinja.Pair{Key: "arguments", Value: arguments},
			)},
		)
	}
	return jinja.List(all...), nil
}

// role returns a role that may be part of a control token, such as <|user|>, if
// it is one of those of the API.
func role(name string) jinja.Value {
	if slices.Contains([]string{"system", "user", "assistant", "tool"}, name) {
		return jinja.Literal(name)
	}
	return jinja.Text(name)
}

func (t *Template) render(ctx context.Context, vars ...jinja.Pair) (jinja.Output, error) {
	vars = append(vars,
		jinja.Pair{Key: "add_generation_prompt", Value: jinja.Bool(true)},
		jinja.Pair{Key: "bos_token", Value: jinja.Literal(t.bos)},
		jinja.Pair{Key: "eos_token", Value: jinja.Literal(t.eos)},
	)
	return t.template.Render(ctx, jinja.Render{Vars: vars})
}

func classify(ctx context.Context, err error) error {
	var e *jinja.Error
	switch {
	case ctx.Err() != nil:
		return fault.As(fault.Interrupted, fmt.Errorf("cannot evaluate chat template: %w", err))
	case errors.As(err, &e) && e.Reason == jinja.Raised:
		return fault.Errorf(fault.Invalid, "the model's chat template refuses the conversation: %s", e.Message)
	}
	return fault.Errorf(fault.Unsupported, "cannot evaluate chat template: %w", err)
}

// raised reports whether the template itself refused the conversation.
func raised(err error) bool {
	var e *jinja.Error
	return errors.As(err, &e) && e.Reason == jinja.Raised
}

// mentions reports whether the template uses a variable, roughly: it may name
// it in a text only.
func (t *Template) mentions(name string) bool { return strings.Contains(t.source, name) }
