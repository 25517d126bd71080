package openai

import (
	"maps"
	"slices"
	"strings"
)

func parseMessages(f *fields, r *ChatRequest) {
	raw := f.array("messages")
	if isEmpty(raw) {
		f.fail("messages", CodeInvalidValue, "%s must not be empty")
	}
	if raw == nil {
		f.fail("messages", CodeMissing, "%s is required: an array of messages")
	}
	var parts [][]leftOut
	for _, m := range f.objects("messages", raw, maxMessages) {
		r.Messages = append(r.Messages, parseMessage(m))
		parts = append(parts, m.leftOut)
		for _, part := range m.leftOut {
			if !slices.Contains(r.LeftOut, part.kind) {
				r.LeftOut = append(r.LeftOut, part.kind)
			}
		}
	}
	if f.err != nil {
		return
	}
	if asked, ok := asksAbout(r.Messages, parts); ok {
		f.fail(asked.name, CodeUnsupportedValue, "%s is not supported here: the models of this server read only text")
	}
}

func parseMessage(f *fields) Message {
	var m Message
	role, _ := f.text("role")
	switch role {
	case "tool":
		f.need("role", FeatureTools, "%s cannot be 'tool'", "tools")
		m.Role = Tool
		m.ToolCallID, _ = f.text("tool_call_id")
	case "system", "user", "assistant":
		m.Role = Role(role)
	case "developer": // OpenAI's newer word for system
		m.Role = System
	case "function":
		f.fail("role", CodeUnsupported, "%s cannot be 'function' here: use 'tool'")
	case "":
		f.fail("role", CodeMissing, "%s is required: one of 'system', 'developer', 'user', 'assistant'")
	default:
		f.fail("role", CodeInvalidValue, "%s must be one of 'system', 'developer', 'user', 'assistant'")
	}
	if raw := f.take("tool_calls"); raw != nil && !isEmpty(raw) {
		if m.Role != Assistant || kindOf(raw) != "an array" {
			f.fail("tool_calls", CodeInvalidValue, "%s is a list in messages of the role 'assistant'")
		}
		f.need("tool_calls", FeatureTools, "%s is not supported", "tools")
		m.ToolCalls = functionCalls(f, raw)
	}
	if raw := f.take("function_call"); raw != nil && !isEmpty(raw) {
		f.fail("function_call", CodeUnsupported, "%s is not supported here: use 'tool_calls'")
	}
	if raw := f.take("tool_call_id"); raw != nil && !isEmpty(raw) {
		f.fail("tool_call_id", CodeUnsupported, "%s belongs to messages of the role 'tool'")
	}
	if f.take("audio") != nil {
		f.fail("audio", CodeUnsupported, "%s is not supported here: only text can be read")
	}
	if m.ToolCalls == nil || f.has("content") {
		m.Content = parseContent(f, m.Role)
	} else {
		f.take("refusal")
	}
	m.Name, _ = f.text("name")
	if extra := f.rest(); len(extra) > 0 {
		m.Extra = maps.Clone(extra)
	}
	return m
}

// parseContent reads a string, or joins an array of parts by newlines, as
// other servers of text-only models do.
func parseContent(f *fields, role Role) string {
	raw := f.take("content")
	refusal, refused := f.text("refusal")
	if raw == nil {
		if refused && role == Assistant { // an answer that declined
			return refusal
		}
		f.fail("content", CodeMissing, "%s is required: a string or an array of text parts")
		return ""
	}
	if s, ok := unquote(raw); ok {
		return s
	}
	if kindOf(raw) != "an array" {
		f.wrongType("content", "a string or an array of text parts", raw)
		return ""
	}
	if isEmpty(raw) {
		f.fail("content", CodeInvalidValue, "%s must not be an empty array")
		return ""
	}
	var texts []string
	for _, p := range f.objects("content", raw, maxParts) {
		texts = append(texts, parsePart(p, role))
	}
	return strings.Join(texts, "\n")
}

func parsePart(f *fields, role Role) string {
	kind, _ := f.text("type")
	field := "text"
	text, unread := StandIn(kind)
	switch {
	case kind == "text":
	case unread:
		f.leftOut = append(f.leftOut, leftOut{f.name("type"), kind})
		clear(f.m)
		return text
	case kind == "refusal" && role == Assistant:
		field = "refusal"
	case kind == "":
		f.fail("type", CodeMissing, "%s is required: only parts of type 'text' can be read here")
	default:
		f.fail("type", CodeUnsupportedValue, "%s is not supported here: only parts of type 'text' can be read")
	}
	s, ok := f.text(field)
	if !ok {
		f.fail(field, CodeMissing, "%s is required: a string")
	}
	return s
}
