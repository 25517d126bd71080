package engineapi

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// A wireCall is a piece of a call as servers write it: some leave out the index,
// the type or the id, give each whole call the same index, or write the arguments
// as an object.
type wireCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// toolCalls brings the pieces of calls of one answer into the form of OpenAI. The
// zero value is ready.
type toolCalls struct {
	known []knownCall // by the index that we give
}

type knownCall struct {
	wire      int    // index that the server gives
	id        string // that the server gives, or ""
	name      string // so far
	arguments bool   // some have come
}

// more returns what a further piece adds to the name: nothing if it repeats the name, as
// some servers do with each piece, and the rest if it repeats the beginning.
func (k *knownCall) more(name string) string {
	rest := strings.TrimPrefix(name, k.name)
	k.name += rest
	return rest
}

func (t *toolCalls) any() bool { return len(t.known) > 0 }

// pieces returns the pieces with indices that count calls, and the first piece of
// each call with an id and a type.
func (t *toolCalls) pieces(in []wireCall) []openai.ToolCall {
	var out []openai.ToolCall
	for _, w := range in {
		i, begins := t.find(w)
		p := openai.ToolCall{Index: i, Function: openai.ToolFunction{Name: t.known[i].more(w.Function.Name), Arguments: arguments(w.Function.Arguments)}}
		if begins {
			p.ID, p.Type = w.ID, w.Type
			if p.ID == "" {
				p.ID = "call_" + rand.Text()
			}
			if p.Type == "" {
				p.Type = "function"
			}
		}
		t.known[i].arguments = t.known[i].arguments || p.Function.Arguments != ""
		out = append(out, p)
	}
	return out
}

// find returns the index of the call that a piece belongs to, and whether it is
// the first piece of it: one with a new index, or with another id than the call
// of its index.
func (t *toolCalls) find(w wireCall) (i int, begins bool) {
	last := len(t.known) - 1
	for i := last; i >= 0; i-- {
		k := t.known[i]
		sameIndex := w.Index == nil && i == last || w.Index != nil && *w.Index == k.wire
		if sameIndex && (w.ID == "" || w.ID == k.id) {
			if w.Index == nil && w.ID == "" && w.Function.Name != "" {
				break // whole calls without index and id
			}
			return i, false
		}
	}
	k := knownCall{wire: last + 1, id: w.ID}
	if w.Index != nil {
		k.wire = *w.Index
	}
	t.known = append(t.known, k)
	return last + 1, true
}

// rest returns empty objects for the calls without arguments, or nil.
func (t *toolCalls) rest() *openai.Parts {
	var p *openai.Parts
	for i, k := range t.known {
		if k.arguments {
			continue
		}
		if p == nil {
			p = &openai.Parts{}
		}
		p.ToolCalls = append(p.ToolCalls, openai.ToolCall{Index: i, Function: openai.ToolFunction{Arguments: "{}"}})
	}
	return p
}

// arguments returns a string as it is, and an object as text.
func arguments(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) || json.Unmarshal(raw, &s) == nil {
		return s
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return ""
	}
	return compact.String()
}
