package api

import (
	"context"
	"errors"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/openai"
)

// ask returns what to ask of the engine for a chat, and which tools the model may
// call. The error is for the client.
func (h *Handler) ask(ctx context.Context, tenant string, c openai.ChatRequest) (llama.Request, toolcall.Choice, *openai.Error) {
	choice, bad := toolcall.ParseChoice(c.Featured)
	if bad != nil {
		return llama.Request{}, choice, bad
	}
	messages, bad := toolcall.History(h.o.Calls, c.Messages)
	if bad != nil {
		return llama.Request{}, choice, bad
	}
	r := h.request(c)
	r.Messages, r.Tools = messages, choice.Tools
	r.Grammar, bad = h.form(ctx, tenant, c, choice)
	return r, choice, bad
}

// errEnough ends an answer whose remainder does not count.
var errEnough = errors.New("the answer has the only call that it may have")

// A calling is a reply to a request with tools: it finds calls in the text.
type calling struct {
	to     reply
	parser *toolcall.Parser

	tokens  int            // so far
	choices []llama.Choice // of text that the parser holds back
}

// withTools returns a reply that finds calls of the tools; without tools, the reply
// itself.
func (h *Handler) withTools(to reply, choice toolcall.Choice) reply {
	if len(choice.Tools) == 0 {
		return to
	}
	return &calling{to: to, parser: toolcall.NewParser(h.o.Calls, toolcall.Options{Tools: choice.Tools, Single: choice.Single})}
}

func (o *calling) piece(p llama.Piece) error {
	if p.Text == "" && len(p.Choices) == 0 {
		return o.to.piece(p)
	}
	o.tokens, o.choices = p.Tokens, append(o.choices, p.Choices...)
	if err := o.pass(o.parser.Push(p.Text)); err != nil {
		return err
	}
	if o.parser.Over() {
		return errEnough
	}
	return nil
}

// pass passes on what is found. The choices of tokens belong to the text: those of
// calls have no place in an answer.
func (o *calling) pass(found []toolcall.Piece) error {
	for _, f := range found {
		if f.Text != "" {
			err := o.to.piece(llama.Piece{Text: f.Text, Tokens: o.tokens, Choices: o.choices})
			if o.choices = nil; err != nil {
				return err
			}
		}
		if len(f.Calls) > 0 {
			o.choices = nil
			if err := o.to.calls(f.Calls); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *calling) calls(calls []openai.ToolCall) error { return o.to.calls(calls) }

// finish ends the answer. Its reason are the calls, if there is a whole one and
// nothing cut the answer.
func (o *calling) finish(r llama.Result) error {
	if err := o.pass(o.parser.Rest()); err != nil {
		return err
	}
	if o.parser.Called() && r.Finish == llama.FinishStop {
		r.Finish = openai.FinishToolCalls
	}
	return o.to.finish(r)
}

func (o *calling) fail(e *openai.Error) { o.to.fail(e) }
