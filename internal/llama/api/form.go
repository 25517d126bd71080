package api

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/gorizond/koldun/internal/constrain"
	"github.com/gorizond/koldun/internal/openai"
)

// form returns the grammar that response_format asks for, or nil. The error is for
// the client.
func (h *Handler) form(c openai.ChatRequest) (*constrain.Grammar, *openai.Error) {
	const param = "response_format"
	raw, ok := c.Featured[param]
	if !ok {
		return nil, nil
	}
	if len(c.Stop) > 0 {
		return nil, openai.BadRequest("stop", openai.CodeInvalidValue, "'stop' cannot stand beside 'response_format': a stop sequence would cut the JSON")
	}
	var format struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	}
	if err := json.Unmarshal(raw, &format); err != nil {
		return nil, openai.BadRequest(param, openai.CodeInvalidType, "'response_format' has a field of a wrong type")
	}
	schema := format.JSONSchema.Schema
	if format.Type == "json_object" || len(schema) == 0 || string(schema) == "null" {
		schema = nil
	}
	g, err := h.grammars.get(string(schema), func() (*constrain.Grammar, error) {
		if schema == nil {
			return constrain.Object(), nil
		}
		return constrain.Schema(schema)
	})
	var e *constrain.SchemaError
	switch {
	case errors.As(err, &e):
		return nil, openai.BadRequest(param, openai.CodeInvalidValue, "'response_format.json_schema.schema' cannot be guaranteed: "+e.Error())
	case err != nil:
		return nil, openai.BadRequest(param, openai.CodeInvalidValue, err.Error())
	}
	return g, nil
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

// maxGrammars limits the kept grammars. Each takes up to 3 MB.
const maxGrammars = 16

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
