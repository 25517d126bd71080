package toolcall

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/model/jinja/chat"
	"github.com/gorizond/koldun/internal/openai"
)

// History returns the messages of a chat as the template of a family expects them:
// arguments as objects, ids of the form that the family uses, and one call in a
// message where the template takes no more. The messages of Generic have calls and
// results in their text, because its template knows neither. The error is for the
// client.
func History(f Family, messages []openai.Message) ([]chat.Message, *openai.Error) {
	h := history{family: f, ids: map[string]string{}, names: map[string]string{}}
	for i, m := range messages {
		calls, bad := decodeCalls(i, m.ToolCalls)
		if bad != nil {
			return nil, bad
		}
		h.add(m, calls)
	}
	if f == Llama {
		return apart(h.out), nil
	}
	return h.out, nil
}

// A history collects messages.
type history struct {
	family Family
	ids    map[string]string // of the family, by those of the client
	names  map[string]string // of the tools, by the ids of the client
	calls  int               // so far
	out    []chat.Message
}

func (h *history) add(m openai.Message, calls []chat.Call) {
	out := chat.Message{Role: string(m.Role), Content: m.Content}
	for i := range calls {
		c := &calls[i]
		h.names[c.ID] = c.Name
		h.ids[c.ID] = h.id(*c)
		c.ID = h.ids[c.ID]
		h.calls++
	}
	if m.Role == openai.Tool {
		out.Name, out.CallID = h.names[m.ToolCallID], h.ids[m.ToolCallID]
		if out.CallID == "" {
			out.CallID = h.id(chat.Call{ID: m.ToolCallID, Name: m.Name})
		}
		if out.Name == "" {
			out.Name = m.Name
		}
	}
	switch h.family {
	case Generic:
		h.addText(out, calls)
		return
	case Granite: // whose template does not write calls
		if len(calls) > 0 {
			out.Content += graniteBegin + writeList(calls)
		}
	default:
		out.Calls = calls
	}
	h.out = append(h.out, out)
}

// addText adds a message whose calls or result are text. Several results make one
// message, because some templates want users and assistants to alternate.
func (h *history) addText(m chat.Message, calls []chat.Call) {
	last := len(h.out) - 1
	switch {
	case m.Role == string(openai.Tool):
		text := fmt.Sprintf("Result of %s:\n%s", m.Name, m.Content)
		if last >= 0 && h.out[last].Role == "user" && strings.HasPrefix(h.out[last].Content, "Result of ") {
			h.out[last].Content += "\n\n" + text
			return
		}
		m = chat.Message{Role: "user", Content: text}
	case len(calls) > 0:
		text := Write(calls)
		if m.Content != "" {
			text = m.Content + "\n" + text
		}
		m.Content = text
	}
	h.out = append(h.out, m)
}

// id returns the id of a call in the form of the family.
func (h *history) id(c chat.Call) string {
	switch h.family {
	case Mistral:
		return nine(c.ID)
	case Kimi:
		return fmt.Sprintf("functions.%s:%d", c.Name, h.calls)
	}
	return c.ID
}

// nine maps an id to nine letters and digits, always to the same.
func nine(id string) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if len(id) == 9 && strings.Trim(id, digits) == "" {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	out := make([]byte, 9)
	for i := range out {
		out[i] = digits[int(sum[i])%len(digits)]
	}
	return string(out)
}

// decodeCalls reads the calls of a message.
func decodeCalls(at int, raw json.RawMessage) ([]chat.Call, *openai.Error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var items []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	field := fmt.Sprintf("messages[%d].tool_calls", at)
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, openai.BadRequest(field, openai.CodeInvalidType, "'"+field+"' cannot be read: "+err.Error())
	}
	calls := make([]chat.Call, len(items))
	for i, item := range items {
		if item.Function.Name == "" || item.Type != "" && item.Type != "function" {
			field := fmt.Sprintf("%s[%d]", field, i)
			return nil, openai.BadRequest(field, openai.CodeInvalidValue, "'"+field+"' must be a call of a function, with its name")
		}
		args, ok := asObject(item.Function.Arguments)
		if !ok { // a model wrote no JSON
			args = []byte(`{"arguments": ` + textOf(item.Function.Arguments) + `}`)
		}
		calls[i] = chat.Call{ID: item.ID, Name: item.Function.Name, Arguments: args}
	}
	return calls, nil
}

// textOf returns arguments that are no object as a JSON string.
func textOf(raw json.RawMessage) string {
	if raw[0] == '"' {
		return string(raw)
	}
	return quote(string(raw))
}

// apart gives each call a message of its own, with its result after it.
func apart(messages []chat.Message) []chat.Message {
	var out []chat.Message
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if len(m.Calls) < 2 {
			out = append(out, m)
			continue
		}
		var results []chat.Message
		for i+1 < len(messages) && messages[i+1].Role == string(openai.Tool) {
			i++
			results = append(results, messages[i])
		}
		for j, c := range m.Calls {
			one := chat.Message{Role: m.Role, Calls: []chat.Call{c}}
			if j == 0 {
				one.Content = m.Content
			}
			out = append(out, one)
			if k := slices.IndexFunc(results, func(r chat.Message) bool { return r.CallID == c.ID }); k >= 0 {
				out = append(out, results[k])
				results = slices.Delete(results, k, k+1)
			}
		}
		out = append(out, results...)
	}
	return out
}
