package engineapi

import (
	"context"
	"slices"

	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/openai"
)

// call returns a request in the form that the engine takes.
func (c *Client) call(ctx context.Context, r Request) (call, error) {
	chat, isChat := r.(Chat)
	if !isChat || c.plain == nil || !chat.hasTools() {
		return r.call()
	}
	choice, bad := toolcall.ParseChoice(chat.Featured)
	if bad != nil {
		return call{}, bad
	}
	messages, err := c.plain.Messages(ctx, chat.Messages, choice.Tools)
	if err != nil {
		return call{}, err
	}
	chat.Messages, chat.Featured = make([]openai.Message, len(messages)), nil
	for i, m := range messages {
		chat.Messages[i] = openai.Message{Role: openai.Role(m.Role), Content: m.Content}
	}
	out, err := chat.call()
	if len(choice.Tools) > 0 {
		out.parser = toolcall.NewParser(c.plain.Family(), toolcall.Options{Tools: choice.Tools, Single: choice.Single})
	}
	return out, err
}

// hasTools reports whether the chat has tools, or calls of tools in its history.
func (c Chat) hasTools() bool {
	return c.Featured["tools"] != nil || slices.ContainsFunc(c.Messages, func(m openai.Message) bool {
		return m.Role == openai.Tool || m.ToolCalls != nil
	})
}
