package toolcall

import (
	"strings"

	"github.com/gorizond/koldun/internal/model/jinja/chat"
)

// Instruct adds tools to the system message, for a model whose template knows none,
// with the format in which Generic finds calls. Without tools it changes nothing.
func Instruct(messages []chat.Message, tools []Tool) []chat.Message {
	if len(tools) == 0 {
		return messages
	}
	var b strings.Builder
	b.WriteString("You can call these functions. Each line describes one as JSON, with a schema of its arguments:\n")
	for _, t := range tools {
		b.Write(t.raw)
		b.WriteByte('\n')
	}
	b.WriteString("\nTo call a function, answer with nothing but this JSON object:\n" +
		`{"name": "NAME", "arguments": {"ARGUMENT": VALUE}}` + "\n" +
		"To call several, answer with a JSON array of such objects. You get the results in the next message. " +
		"If no function helps, answer in plain words.")
	if len(messages) > 0 && messages[0].Role == "system" {
		first := messages[0]
		first.Content = strings.TrimRight(first.Content, "\n") + "\n\n" + b.String()
		return append([]chat.Message{first}, messages[1:]...)
	}
	return append([]chat.Message{{Role: "system", Content: b.String()}}, messages...)
}

// Write returns calls in the format of Generic.
func Write(calls []chat.Call) string {
	list := writeList(calls)
	if len(calls) == 1 {
		return list[1 : len(list)-1]
	}
	return list
}

// writeList returns calls as a JSON array.
func writeList(calls []chat.Call) string {
	all := make([]string, len(calls))
	for i, c := range calls {
		all[i] = `{"name": ` + quote(c.Name) + `, "arguments": ` + string(c.Arguments) + `}`
	}
	return "[" + strings.Join(all, ", ") + "]"
}
