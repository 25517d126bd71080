// Package bodies has requests that make much of few bytes: each is as large as a server
// takes, and names what it repeats.
package bodies

import (
	"fmt"
	"strings"
)

// A Body is one request.
type Body struct {
	Path string // of the API
	Name string // of what is many
	make func(size int) string
}

// JSON returns the body, of about so many bytes.
func (b Body) JSON(size int) string { return b.make(size) }

const (
	chat        = "/v1/chat/completions"
	completions = "/v1/completions"
	embeddings  = "/v1/embeddings"
	responses   = "/v1/responses"
	messages    = "/v1/messages"

	hello     = `"model":"tiny","messages":[{"role":"user","content":"hello"}]`
	inputs    = `"model":"tiny","input":"hello"`
	anthropic = `"max_tokens":8,` + hello
)

// All returns the bodies, which name the model "tiny".
func All() []Body {
	var all []Body
	for _, path := range []string{chat, completions, embeddings, responses, messages} {
		for _, c := range of(path) {
			all = append(all, Body{Path: path, Name: c.name, make: c.make})
		}
	}
	return all
}

// repeated is what is many: each item, between what comes before and after all of them. An
// item may have one %d, which counts.
type repeated struct{ name, before, item, after string }

func (r repeated) of(size int) string {
	var b strings.Builder
	b.Grow(size + len(r.before) + len(r.after))
	b.WriteString("{" + r.before)
	counts := strings.Contains(r.item, "%d") && r.item != "%d"
	list := strings.HasSuffix(r.before, "[") || strings.HasSuffix(r.before, "{")
	for i := 0; b.Len() < size; i++ {
		if i > 0 && list {
			b.WriteByte(',')
		}
		if counts {
			fmt.Fprintf(&b, r.item, i)
		} else {
			b.WriteString(r.item)
		}
	}
	b.WriteString(r.after + "}")
	return b.String()
}

type named struct {
	name string
	make func(int) string
}

func of(path string) []named {
	var out []named
	for _, r := range lists()[path] {
		out = append(out, named{r.name, r.of})
	}
	if path == chat {
		out = append(out,
			named{"depth", func(n int) string {
				const depth = 9000
				return "{" + hello + `,"x":` + strings.Repeat("[", depth) + strings.Repeat(" ", max(0, n-2*depth)) + strings.Repeat("]", depth) + "}"
			}},
			named{"one unknown key", func(n int) string { return "{" + hello + `,"` + strings.Repeat("k", n) + `":1}` }},
			named{"a text, and then many", func(n int) string {
				return "{" + `"model":"tiny","messages":[{"role":"user","content":"` + strings.Repeat("a", n/2) + `"}` +
					strings.Repeat(`,{"role":"user","content":"b"}`, n/60) + "]}"
			}})
	}
	if path == messages {
		out = append(out, named{"a text, and then many blocks", func(n int) string {
			return `{"model":"tiny","max_tokens":8,"messages":[{"role":"user","content":[{"type":"text","text":"` + strings.Repeat("a", n/2) + `"}` +
				strings.Repeat(`,{"type":"text","text":"b"}`, min(4000, n/60)) + "]}]}"
		}})
	}
	if path == responses {
		for _, item := range []string{`{"role":"system","content":"b"}`, `{"type":"reasoning","content":[{"text":"b"}]}`} {
			out = append(out, named{"a text, and then " + item, func(n int) string {
				return `{"model":"tiny","input":[` + strings.Replace(item, `"b"`, `"`+strings.Repeat("a", n/2)+`"`, 1) +
					strings.Repeat(","+item, min(4000, n/2/len(item))) + `]}`
			}})
		}
		out = append(out, named{"calls with long ids", func(n int) string {
			const calls = 2000
			var b strings.Builder
			b.WriteString(`{"model":"tiny","input":[`)
			for i := range calls {
				id := strings.Repeat("i", max(1, n/calls/2-100)) + fmt.Sprint(i)
				fmt.Fprintf(&b, `{"type":"function_call","call_id":%q,"name":"f","arguments":"{}"},{"type":"function_call_output","call_id":%q,"output":"x"},`, id, id)
			}
			return b.String() + `{"role":"user","content":"hello"}]}`
		}})
	}
	return out
}

// lists returns what may be many, by path.
func lists() map[string][]repeated {
	const tool = `{"type":"function","function":{"name":"f%d"}}`
	return map[string][]repeated{
		chat: {
			{"stop sequences", hello + `,"stop":[`, `"a"`, `]`},
			{"long stop sequences", hello + `,"stop":["`, `a`, `"]`},
			{"empty tools", hello + `,"tools":[`, `{}`, `]`},
			{"tools", hello + `,"tools":[`, tool, `]`},
			{"hosted tools", hello + `,"tools":[`, `{"type":"x%d"}`, `]`},
			{"allowed tools", hello + `,"tools":[{"type":"function","function":{"name":"f"}}],` +
				`"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[`,
				`{"type":"function","function":{"name":"f"}}`, `]}}`},
			{"name of a tool", hello + `,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"function","function":{"name":"`,
				`%d`, `"}}`},
			{"messages", `"model":"tiny","messages":[`, `{"role":"user","content":""}`, `]`},
			{"results of tools", `"model":"tiny","messages":[`, `{"role":"tool","content":""}`, `]`},
			{"unknown fields of messages", `"model":"tiny","messages":[`, `{"role":"user","content":"","a":1,"b":2,"c":3,"d":4,"e":5}`, `]`},
			{"fields of a message", `"model":"tiny","messages":[{"role":"user","content":""`, `,"k%d":0`, `}]`},
			{"empty messages", `"model":"tiny","messages":[`, `{}`, `]`},
			{"numbers for messages", `"model":"tiny","messages":[`, `0`, `]`},
			{"parts", `"model":"tiny","messages":[{"role":"user","content":[`, `{"type":"text","text":""}`, `]}]`},
			{"images", `"model":"tiny","messages":[{"role":"user","content":[`,
				`{"type":"image"}`, `]},{"role":"assistant","content":"a"},{"role":"user","content":"hello"}]`},
			{"calls", `"model":"tiny","messages":[{"role":"assistant","tool_calls":[`, `{}`, `]},{"role":"user","content":"hello"}]`},
			{"custom calls", `"model":"tiny","messages":[{"role":"assistant","tool_calls":[`,
				`{"type":"custom","id":"","custom":{}}`, `]},{"role":"user","content":"hello"}]`},
			{"unknown keys", hello, `,"k%d":0`, ``},
			{"null keys", hello, `,"k%d":null`, ``},
			{"one key again", hello, `,"user":"u"`, ``},
			{"modalities", hello + `,"modalities":[`, `"text"`, `]`},
			{"functions", hello + `,"functions":[`, `0`, `]`},
			{"biases", hello + `,"logit_bias":{`, `"%d":1`, `}`},
			{"metadata", hello + `,"metadata":{`, `"k%d":"v"`, `}`},
			{"digits", hello + `,"user":"u","seed":1`, `1`, ``},
			{"text", `"model":"tiny","messages":[{"role":"user","content":"`, `a`, `"}]`},
			{"less-than signs", `"model":"tiny","messages":[{"role":"user","content":"`, `<`, `"}]`},
			{"escapes", `"model":"tiny","messages":[{"role":"user","content":"`, `\n`, `"}]`},
			{"line separators", `"model":"tiny","messages":[{"role":"user","content":"`, "\u2028", `"}]`},
			{"bytes that are not UTF-8", `"model":"tiny","messages":[{"role":"user","content":"`, "\xff", `"}]`},
			{"name of a model", `"messages":[{"role":"user","content":"hello"}],"model":"`, `%d`, `"`},
		},
		completions: {
			{"prompts", `"model":"tiny","prompt":[`, `"a"`, `]`},
			{"tokens", `"model":"tiny","prompt":[`, `1`, `]`},
			{"text", `"model":"tiny","prompt":"`, `a`, `"`},
			{"stop sequences", `"model":"tiny","prompt":"a","stop":[`, `"a"`, `]`},
		},
		embeddings: {
			{"inputs", `"model":"tiny","input":[`, `""`, `]`},
			{"tokens", `"model":"tiny","input":[`, `1`, `]`},
			{"inputs of tokens", `"model":"tiny","input":[`, `[1]`, `]`},
			{"unknown keys", inputs, `,"k%d":0`, ``},
		},
		responses: {
			{"include", inputs + `,"include":[`, `""`, `]`},
			{"items", `"model":"tiny","input":[`, `{"role":"user","content":""}`, `]`},
			{"empty items", `"model":"tiny","input":[`, `{}`, `]`},
			{"references", `"model":"tiny","input":[`, `{"type":"item_reference","id":"msg_01ARZ3NDEKTSV4RRFFQ69G5FAV"}`, `]`},
			{"parts", `"model":"tiny","input":[{"role":"user","content":[`, `{"type":"input_text","text":""}`, `]}]`},
			{"images", `"model":"tiny","input":[{"role":"user","content":[`,
				`{"type":"input_image"}`, `]},{"role":"assistant","content":"a"},{"role":"user","content":"hello"}]`},
			{"summary", `"model":"tiny","input":[{"type":"reasoning","summary":[`, `{}`, `]}]`},
			{"foreign items", `"model":"tiny","input":[`, `{"type":"x%d_call"}`, `]`},
			{"tools", inputs + `,"tools":[`, `{"type":"function","name":"f%d"}`, `]`},
			{"tools of a group", inputs + `,"tools":[{"type":"namespace","name":"n","tools":[`, `{"type":"function","name":"f%d"}`, `]}]`},
			{"metadata", inputs + `,"metadata":{`, `"k%d":"v"`, `}`},
			{"unknown keys", inputs, `,"k%d":0`, ``},
			{"unknown field of an item", `"model":"tiny","input":[{"role":"user","content":"hello","x_pad":"`, `x`, `"}]`},
			{"text", `"model":"tiny","input":"`, `a`, `"`},
		},
		messages: {
			{"stop sequences", anthropic + `,"stop_sequences":[`, `"a"`, `]`},
			{"tools", anthropic + `,"tools":[`, `{"name":"f%d","input_schema":{}}`, `]`},
			{"hosted tools", anthropic + `,"tools":[`, `{"type":"x%d","name":"f"}`, `]`},
			{"system", anthropic + `,"system":[`, `{"type":"text","text":"a"}`, `]`},
			{"messages", `"model":"tiny","max_tokens":8,"messages":[`, `{"role":"user","content":"a"}`, `]`},
			{"blocks", `"model":"tiny","max_tokens":8,"messages":[{"role":"user","content":[`, `{"type":"text","text":"a"}`, `]}]`},
			{"foreign blocks", `"model":"tiny","max_tokens":8,"messages":[{"role":"user","content":[`,
				`{"type":"x%d_tool_result"}`, `]},{"role":"user","content":"hello"}]`},
			{"calls", `"model":"tiny","max_tokens":8,"messages":[{"role":"assistant","content":[`, `{"type":"tool_use","id":"c%d","name":"f"}`, `]}]`},
			{"results of searches", `"model":"tiny","max_tokens":8,"messages":[{"role":"user","content":[{"type":"search_result","title":"t","source":"s","content":[`,
				`{"type":"text","text":"a"}`, `]}]}]`},
			{"fields of an input", `"model":"tiny","max_tokens":8,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{`,
				`"k%d":1`,
				`}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]}]`},
			{"unknown keys", anthropic, `,"k%d":0`, ``},
			{"text", `"model":"tiny","max_tokens":8,"messages":[{"role":"user","content":"`, `a`, `"}]`},
		},
	}
}
