package messages

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// Parse reads and validates the body of POST /v1/messages, and returns the chat that
// asks the same, and the names of the fields that it does not know, sorted. Its errors
// are *openai.Error and name the parameter.
func Parse(body []byte) (chat openai.ChatRequest, ignored []string, err error) {
	o, err := openai.ParseObject(body)
	if err != nil {
		return openai.ChatRequest{}, nil, err
	}
	r := &reader{}
	encoded, err := openai.Encode(r.translate(o))
	if o.Err() != nil {
		return openai.ChatRequest{}, nil, o.Err()
	}
	if err != nil {
		return openai.ChatRequest{}, nil, err
	}
	chat, err = openai.ParseChat(encoded)
	slices.Sort(r.leftOut)
	chat.LeftOut = slices.Compact(r.leftOut)
	return chat, slices.Sorted(maps.Keys(o.Rest())), err
}

// A reader reads one request.
type reader struct {
	leftOut []string // without which the request is answered, by kind
}

func (r *reader) leaveOut(kind string) {
	r.leftOut = append(r.leftOut, openai.LeftOutName(kind, "messages"))
}

// translate takes the fields of a message, and returns the fields of the chat.
func (r *reader) translate(o openai.Object) map[string]any {
	chat := map[string]any{}
	if model, _ := o.Text("model"); model != "" {
		chat["model"] = model
	} else {
		o.Fail("model", openai.CodeMissing, "%s is required: name the model that shall answer")
	}
	n, ok := o.Integer("max_tokens", 1, math.MaxInt32)
	if !ok {
		o.Fail("max_tokens", openai.CodeMissing, "%s is required: a number of tokens above 0")
	}
	chat["max_completion_tokens"] = n
	if o.Boolean("stream", false) {
		chat["stream"], chat["stream_options"] = true, map[string]bool{"include_usage": true}
	}
	parseSampling(o, chat)
	parseThinking(o, chat)
	parseOutput(o, chat)
	r.parseTools(o, chat)
	chat["messages"] = r.parseMessages(o)
	o.Take("cache_control")
	if raw := o.Take("context_management"); raw != nil { // it only saves tokens
		r.leaveOut("context_management")
	}
	for _, field := range []string{"container", "mcp_servers"} { // tools that are only offered
		if raw := o.Take(field); raw != nil && string(raw) != "[]" {
			r.leaveOut(field)
		}
	}
	if raw := o.Take("thread"); raw != nil {
		o.Fail("thread", codeThread, "%s is not supported here: send the whole conversation in 'messages'")
	}
	return chat
}

func parseSampling(o openai.Object, chat map[string]any) {
	for _, field := range []string{"temperature", "top_p"} {
		if x, ok := o.Number(field, 0, 1); ok {
			chat[field] = x
		}
	}
	if k, ok := o.Integer("top_k", 0, math.MaxInt32); ok {
		chat["top_k"] = k
	}
	if stops, ok := o.Array("stop_sequences"); ok && len(stops) > 0 {
		chat["stop"] = stops
	}
	if raw := o.Take("metadata"); raw != nil {
		m := openai.NewObject("metadata", raw)
		if user, ok := m.Text("user_id"); ok {
			chat["user"] = user
		}
		o.Adopt(m)
	}
}

// parseThinking shows thoughts only if the request asks for them, as clients expect.
func parseThinking(o openai.Object, chat map[string]any) {
	shown := false
	if raw := o.Take("thinking"); raw != nil {
		t := openai.NewObject("thinking", raw)
		kind, _ := t.Text("type")
		if kind != "enabled" && kind != "adaptive" && kind != "disabled" {
			t.Fail("type", openai.CodeInvalidValue, "%s must be 'enabled', 'adaptive' or 'disabled'")
		}
		shown = kind != "disabled"
		o.Adopt(t)
	}
	if shown {
		chat["separate_reasoning"] = true
	} else {
		chat["include_reasoning"] = false
	}
}

func parseOutput(o openai.Object, chat map[string]any) {
	raw := o.Take("output_config")
	if raw == nil {
		return
	}
	c := openai.NewObject("output_config", raw)
	if effort, ok := c.Text("effort"); ok {
		chat["reasoning_effort"] = effort
	}
	if raw := c.Take("format"); raw != nil {
		f := openai.NewObject("output_config.format", raw)
		schema := f.Take("schema")
		if kind, _ := f.Text("type"); kind != "json_schema" || schema == nil {
			f.Fail("type", openai.CodeUnsupportedValue, "%s must be 'json_schema', with a 'schema'")
		}
		chat["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "answer", "strict": true, "schema": schema}}
		c.Adopt(f)
	}
	o.Adopt(c)
}

func (r *reader) parseTools(o openai.Object, chat map[string]any) {
	items, _ := o.Array("tools")
	var tools []any
	absent, offered := map[string]bool{}, map[string]bool{} // names of tools that are left out, and of others
	for i, raw := range items {
		t := openai.NewObject(fmt.Sprintf("tools[%d]", i), raw)
		if kind, ok := t.Text("type"); ok && kind != "custom" { // one that Anthropic hosts or describes
			name, _ := t.Text("name")
			absent[name] = true
			r.leaveOut(openai.LeftOutName(kind, "tools"))
			o.Adopt(t)
			continue
		}
		function := map[string]any{}
		name, _ := t.Text("name")
		if name == "" {
			t.Fail("name", openai.CodeMissing, "%s is required: the name of the tool")
		}
		function["name"], offered[name] = name, true
		if text, ok := t.Text("description"); ok {
			function["description"] = text
		}
		if schema := t.Take("input_schema"); schema != nil {
			t.Adopt(openai.NewObject(t.Name("input_schema"), schema))
			function["parameters"] = schema
		}
		if t.Has("strict") {
			function["strict"] = t.Boolean("strict", false)
		}
		tools = append(tools, map[string]any{"type": "function", "function": function})
		o.Adopt(t)
	}
	raw := o.Take("tool_choice")
	if len(tools) > 0 {
		chat["tools"] = tools
	}
	if raw == nil || len(tools)+len(absent) == 0 {
		return
	}
	c := openai.NewObject("tool_choice", raw)
	switch kind, _ := c.Text("type"); kind {
	case "auto":
	case "any":
		chat["tool_choice"] = "required"
		if len(tools) == 0 {
			c.Fail("type", openai.CodeUnsupportedValue, "%s cannot be 'any' here: this server hosts no tools, and the request has no others")
		}
	case "none":
		chat["tool_choice"] = "none"
	case "tool":
		name, _ := c.Text("name")
		if absent[name] {
			c.Fail("name", openai.CodeUnsupportedValue, "%s cannot be '"+name+"' here: this server hosts no tools")
		}
		if !offered[name] && !absent[name] {
			c.Fail("name", openai.CodeInvalidValue, "%s must name one of 'tools'")
		}
		chat["tool_choice"] = map[string]any{"type": "function", "function": map[string]string{"name": name}}
	default:
		c.Fail("type", openai.CodeInvalidValue, "%s must be 'auto', 'any', 'tool' or 'none'")
	}
	if c.Boolean("disable_parallel_tool_use", false) {
		chat["parallel_tool_calls"] = false
	}
	o.Adopt(c)
}

func (r *reader) parseMessages(o openai.Object) []openai.Turn {
	c := &conversation{leaveOut: r.leaveOut}
	if o.Has("system") {
		c.say(openai.System, c.parseText(o, "system"))
	}
	items, _ := o.Array("messages")
	if len(items) == 0 {
		o.Fail("messages", openai.CodeMissing, "%s is required: an array of messages")
	}
	for i, raw := range items {
		m := openai.NewObject(fmt.Sprintf("messages[%d]", i), raw)
		c.last, c.ofTool = i == len(items)-1, false
		c.parse(m)
		o.Adopt(m)
	}
	c.answered(o)
	if n := len(c.messages); n > 0 && c.messages[n-1].Role == openai.Assistant {
		o.Fail("messages", openai.CodeUnsupportedValue, "%s must not end with the assistant: the beginning of an answer cannot be given here")
	}
	return c.messages
}

// parseText reads a string, or joins blocks of text by newlines.
func (c *conversation) parseText(o openai.Object, field string) string {
	return c.texts(o, field, c.textOf)
}

func (c *conversation) texts(o openai.Object, field string, textOf func(openai.Object) string) string {
	text, blocks, isText := o.TextOrArray(field, "a string or an array of blocks")
	if isText {
		return text
	}
	var texts []string
	for i, raw := range blocks {
		b := openai.NewObject(fmt.Sprintf("%s[%d]", o.Name(field), i), raw)
		texts = append(texts, textOf(b))
		o.Adopt(b)
	}
	return strings.Join(texts, "\n")
}

// textOf returns the text of a block inside of another, or what stands for it.
func (c *conversation) textOf(o openai.Object) string {
	kind, _ := o.Text("type")
	switch kind {
	case "text":
		text, _ := o.Text("text")
		return text
	case "tool_reference": // what a search for tools has found; the request has the tool itself
		name, _ := o.Text("tool_name")
		return "The tool " + name + " is available."
	}
	text, _, ok := c.standIn(o, kind)
	if !ok {
		o.Fail("type", openai.CodeUnsupportedValue, "%s is not supported here")
	}
	return text
}

// leafOf is textOf for blocks that hold no others: what is inside of documents does not
// nest, so that the work for a body has a bound.
func (c *conversation) leafOf(o openai.Object) string {
	kind, _ := o.Text("type")
	if kind == "text" {
		text, _ := o.Text("text")
		return text
	}
	text, ok := openai.StandIn(kind)
	if !ok {
		o.Fail("type", openai.CodeUnsupportedValue, "%s is not supported here")
	}
	c.leaveOut(kind)
	return text
}

// standIn returns the text in place of a block that the model cannot read. Documents that
// are text, and results of searches, it can read.
// Unread is true for the others.
func (c *conversation) standIn(o openai.Object, kind string) (text string, unread, ok bool) {
	switch kind {
	case "document":
		if text, ok = c.textSource(o); ok {
			return text, false, true
		}
	case "search_result":
		title, _ := o.Text("title")
		source, _ := o.Text("source")
		return join(join(title, source), c.texts(o, "content", c.leafOf)), false, true
	}
	if text, ok = openai.StandIn(kind); ok {
		c.leaveOut(kind)
	}
	return text, ok, ok
}

// textSource returns a document whose source is text or blocks.
func (c *conversation) textSource(o openai.Object) (text string, ok bool) {
	raw := o.Take("source")
	if raw == nil {
		return "", false
	}
	source := openai.NewObject(o.Name("source"), raw)
	defer o.Adopt(source)
	switch kind, _ := source.Text("type"); kind {
	case "text":
		text, ok = source.Text("data")
	case "content":
		text, ok = c.texts(source, "content", c.leafOf), true
	default:
		return "", false
	}
	title, _ := o.Text("title")
	return join(title, text), ok
}

// input returns the input of a tool as the arguments of a call.
func input(o openai.Object) string {
	raw := o.Take("input")
	if raw == nil {
		return "{}"
	}
	o.Adopt(openai.NewObject(o.Name("input"), raw))
	return string(raw)
}

// arguments returns the arguments of a call as the input of a tool, which is an object.
func arguments(text string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) == nil && object != nil {
		return json.RawMessage(text)
	}
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}")
	}
	b, err := openai.Encode(map[string]string{"arguments": text})
	if err != nil { // impossible for a string
		return json.RawMessage("{}")
	}
	return b
}
