package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/gorizond/koldun/internal/constrain"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/toolcall"
)

// form returns the grammar of the answers that response_format and tool_choice
// allow; nil is any answer. The error is for the client.
func (h *Handler) form(c openai.ChatRequest, choice toolcall.Choice) (*constrain.Grammar, *openai.Error) {
	format, bad := h.format(c.Featured[responseFormat])
	if bad != nil {
		return nil, bad
	}
	g := format
	if choice.Required || format != nil && len(choice.Tools) > 0 {
		key := fmt.Sprintf("%s %t %s", h.o.Calls, choice.Single, toolcall.List(choice.Tools))
		calls, err := h.grammars.get(key, func() (*constrain.Grammar, error) { return h.o.Calls.Force(choice.Tools, choice.Single) })
		if err != nil {
			return nil, notGuaranteed("tools", "calls", err)
		}
		if g = calls; !choice.Required { // the model calls a tool or answers
			if g, err = constrain.Either(calls, format); err != nil {
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

// format returns the grammar of a response_format, or nil for plain text.
func (h *Handler) format(raw json.RawMessage) (*constrain.Grammar, *openai.Error) {
	if raw == nil {
		return nil, nil
	}
	var format struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	}
	if err := json.Unmarshal(raw, &format); err != nil {
		return nil, openai.BadRequest(responseFormat, openai.CodeInvalidType, "'response_format' has a field of a wrong type")
	}
	schema := format.JSONSchema.Schema
	if format.Type == "json_object" || len(schema) == 0 {
		return h.object, nil
	}
	g, err := h.grammars.get(string(schema), func() (*constrain.Grammar, error) { return constrain.Schema(schema) })
	if err != nil {
		return nil, notGuaranteed(responseFormat, "answers", err)
	}
	return g, nil
}

func notGuaranteed(param, what string, err error) *openai.Error {
	return openai.BadRequest(param, openai.CodeInvalidValue, fmt.Sprintf("'%s' does not work here: %s cannot be guaranteed, because %v", param, what, err))
}

// grammars keeps the latest grammars: clients repeat schemas, and a grammar that
// was used before is quicker.
type grammars struct {
	mu   sync.Mutex
	kept []keptGrammar // the latest last
}

type keptGrammar struct {
	key     string
	grammar *constrain.Grammar
}

// maxGrammars limits the kept grammars. Each takes up to 5 MB, with its form after thoughts.
const maxGrammars = 8

// get returns the grammar of a key, and compiles it if it is not kept.
func (k *grammars) get(key string, compile func() (*constrain.Grammar, error)) (*constrain.Grammar, error) {
	if g := k.find(key); g != nil {
		return g, nil
	}
	g, err := compile()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.kept) >= maxGrammars {
		k.kept = slices.Delete(k.kept, 0, 1)
	}
	k.kept = append(k.kept, keptGrammar{key, g})
	return g, nil
}

func (k *grammars) find(key string) *constrain.Grammar {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.kept, func(g keptGrammar) bool { return g.key == key })
	if i < 0 {
		return nil
	}
	g := k.kept[i]
	k.kept = append(slices.Delete(k.kept, i, i+1), g)
	return g.grammar
}
