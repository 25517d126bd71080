package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/model/constrain"
	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/openai"
)

// form returns the grammar of the answers that response_format and tool_choice
// allow; nil is any answer. The error is for the client.
func (h *Handler) form(ctx context.Context, tenant string, c openai.ChatRequest, choice toolcall.Choice) (*constrain.Grammar, *openai.Error) {
	format, key, bad := h.format(ctx, tenant, c.Featured[responseFormat])
	if bad != nil {
		return nil, bad
	}
	g := format
	if choice.Required || format != nil && len(choice.Tools) > 0 {
		callsKey := fmt.Sprintf("%s %t %s", h.o.Calls, choice.Single, toolcall.List(choice.Tools))
		calls, err := h.grammars.Get(ctx, tenant, callsKey, func(ctx context.Context) (*constrain.Grammar, error) {
			return h.o.Calls.Force(ctx, choice.Tools, choice.Single)
		})
		if err != nil {
			return nil, notGuaranteed("tools", "calls", err)
		}
		if g = calls; !choice.Required { // the model calls a tool or answers
			g, err = h.grammars.Get(ctx, tenant, callsKey+" or "+key, func(ctx context.Context) (*constrain.Grammar, error) {
				return constrain.Either(ctx, calls, format)
			})
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
func (h *Handler) format(ctx context.Context, tenant string, raw json.RawMessage) (g *constrain.Grammar, key string, bad *openai.Error) {
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
	g, err := h.grammars.Get(ctx, tenant, key, func(ctx context.Context) (*constrain.Grammar, error) { return constrain.Schema(ctx, schema) })
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

// ofForm returns why an answer cannot be held to its form as an error of the parameter that
// asks for it, and other errors as they are.
func ofForm(err error, c openai.ChatRequest) error {
	var form *llama.FormError
	if !errors.As(err, &form) {
		return err
	}
	param := responseFormat
	if c.Featured[responseFormat] == nil {
		param = "tools"
	}
	return openai.BadRequest(param, openai.CodeInvalidValue, "'"+param+"' does not work here: "+form.Error())
}
