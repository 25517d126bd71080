package messages

import (
	"encoding/json"
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
	translated := r.translate(o)
	ignored = slices.Sorted(maps.Keys(o.Rest()))
	if o.Err() != nil {
		return openai.ChatRequest{}, nil, o.Err()
	}
	encoded, err := openai.Encode(translated)
	if err != nil {
		return openai.ChatRequest{}, nil, err
	}
	chat, err = openai.ParseChat(encoded)
	slices.Sort(r.leftOut)
	chat.LeftOut = slices.Compact(r.leftOut)
	return chat, ignored, err
}

// A reader reads one request.
type reader struct {
	leftOut []string // without which the request is answered, by kind
}

// leaveOut notes a kind. A header names them, which has no place for more than a few.
func (r *reader) leaveOut(kind string) {
	name := openai.LeftOutName(kind, "messages")
	if len(r.leftOut) < maxLeftOut && !slices.Contains(r.leftOut, name) {
		r.leftOut = append(r.leftOut, name)
	}
}

const (
	maxStops    = 16 // as chats have it
	maxTools    = 1024
	maxMessages = 8192
	maxBlocks   = 4096 // of one message
	maxLeftOut  = 64
)

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
	var stops []json.RawMessage
	for _, stop := range o.Items("stop_sequences", o.Array("stop_sequences"), maxStops) {
		stops = append(stops, stop)
	}
	if len(stops) > 0 {
		chat["stop"] = stops
	}
	if raw := o.Take("metadata"); raw != nil {
		m := o.Inner("metadata", raw)
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
		t := o.Inner("thinking", raw)
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
	c := o.Inner("output_config", raw)
	if effort, ok := c.Text("effort"); ok {
		chat["reasoning_effort"] = effort
	}
	if raw := c.Take("format"); raw != nil {
		f := c.Inner("format", raw)
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
	var tools []any
	absent, offered := map[string]bool{}, map[string]bool{} // names of tools that are left out, and of others
	for _, t := range o.Objects("tools", o.Array("tools"), maxTools) {
		if kind, ok := t.Text("type"); ok && kind != "custom" { // one that Anthropic hosts or describes
			name, _ := t.Text("name")
			absent[name] = true
			r.leaveOut(openai.LeftOutName(kind, "tools"))
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
		if schema := t.Object("input_schema"); schema != nil {
			function["parameters"] = schema
		}
		if t.Has("strict") {
			function["strict"] = t.Boolean("strict", false)
		}
		tools = append(tools, map[string]any{"type": "function", "function": function})
	}
	raw := o.Take("tool_choice")
	if len(tools) > 0 {
		chat["tools"] = tools
	}
	if raw == nil || len(tools)+len(absent) == 0 {
		return
	}
	c := o.Inner("tool_choice", raw)
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
	items := o.Array("messages")
	if items == nil || openai.IsEmpty(items) {
		o.Fail("messages", openai.CodeMissing, "%s is required: an array of messages")
	}
	for _, m := range o.Objects("messages", items, maxMessages) {
		c.unread, c.ofTool = unread{}, false
		c.parse(m)
	}
	if c.unread.kind != "" { // of the last message
		o.Fail(c.unread.name, openai.CodeUnsupportedValue, "%s cannot be '"+c.unread.kind+"' here: the models of this server read only text")
	}
	c.answered(o)
	c.join()
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
	for _, b := range o.Objects(field, blocks, maxBlocks) {
		texts = append(texts, textOf(b))
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
	source := o.Inner("source", raw)
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
	raw := o.Object("input")
	if raw == nil {
		return "{}"
	}
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
