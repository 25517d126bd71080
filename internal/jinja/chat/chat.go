// Package chat evaluates the chat template of a model for a conversation, with
// the variables that Hugging Face's transformers gives it: messages, tools,
// add_generation_prompt, bos_token and eos_token.
package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/jinja"
)

// A Message is one turn of a conversation.
type Message struct {
	Role    string // "system", "user", "assistant" or "tool"
	Content string
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
// are text only. The error is Invalid if the template refuses the
// conversation, Interrupted if ctx ends, else Unsupported.
func (t *Template) Prompt(ctx context.Context, messages []Message) ([]jinja.Segment, error) {
	out, err := t.render(ctx, jinja.Pair{Key: "messages", Value: list(messages)})
	if err != nil {
		return nil, classify(ctx, err)
	}
	return out.Segments(), nil
}

func list(messages []Message) jinja.Value {
	all := make([]jinja.Value, len(messages))
	for i, m := range messages {
		all[i] = jinja.Dict(jinja.Pair{Key: "role", Value: role(m.Role)}, jinja.Pair{Key: "content", Value: jinja.Text(m.Content)})
	}
	return jinja.List(all...)
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
