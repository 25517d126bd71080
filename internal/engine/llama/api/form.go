package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gorizond/koldun/internal/model/constrain"
	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/openai"
)

// form returns the grammar of the answers that response_format and tool_choice
// allow; nil is any answer. The error is for the client.
func (h *Handler) form(ctx context.Context, c openai.ChatRequest, choice toolcall.Choice) (*constrain.Grammar, *openai.Error) {
	format, key, bad := h.format(ctx, c.Featured[responseFormat])
	if bad != nil {
		return nil, bad
	}
	g := format
	if choice.Required || format != nil && len(choice.Tools) > 0 {
		callsKey := fmt.Sprintf("%s %t %s", h.o.Calls, choice.Single, toolcall.List(choice.Tools))
		calls, err := h.grammars.Get(ctx, callsKey, func() (*constrain.Grammar, error) { return h.o.Calls.Force(choice.Tools, choice.Single) })
		if err != nil {
			return nil, notGuaranteed("tools", "calls", err)
		}
		if g = calls; !choice.Required { // the model calls a tool or answers
			g, err = h.grammars.Get(ctx, callsKey+" or "+key, func() (*constrain.Grammar, error) { return constrain.Either(calls, format) })
			if err != nil {
				return nil, notGuaranteed(responseFormat, "answers and calls", err)
			}
		}
	}
	if g != nil && len(c.Stop) > 0 {
		return nil, openai.BadRequest("stop", openai.CodeInvalidValue, "'stop' cannot stand beside 'response_format' or a forced choice of tools: a stop sequence would cut the JSON")
	}
	return g, nil
}

const responseFormat = "response_format"

// format returns the grammar of a response_format and its key, or nil for plain text.
func (h *Handler) format(ctx context.Context, raw json.RawMessage) (g *constrain.Grammar, key string, bad *openai.Error) {
	if raw == nil {
		return nil, "", nil
	}
	var format struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	}
	if err := json.Unmarshal(raw, &format); err != nil {
		return nil, "", openai.BadRequest(responseFormat, openai.CodeInvalidType, "'response_format' has a field of a wrong type")
	}
	schema := format.JSONSchema.Schema
	if format.Type == "json_object" || len(schema) == 0 {
		return h.object, "json_object", nil
	}
	key = string(schema)
	g, err := h.grammars.Get(ctx, key, func() (*constrain.Grammar, error) { return constrain.Schema(schema) })
	if err != nil {
		return nil, "", notGuaranteed(responseFormat, "answers", err)
	}
	return g, key, nil
}

func notGuaranteed(param, what string, err error) *openai.Error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return unavailable(err.Error())
	}
	return openai.BadRequest(param, openai.CodeInvalidValue, fmt.Sprintf("'%s' does not work here: %s cannot be guaranteed, because %v", param, what, err))
}
