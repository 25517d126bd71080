package openai

import (
	"fmt"
	"strings"
)

func parseMessages(f *fields, r *ChatRequest) {
	items, ok := f.array("messages")
	if len(items) == 0 {
		if ok {
			f.fail("messages", CodeInvalidValue, "%s must not be empty")
		}
		f.fail("messages", CodeMissing, "%s is required: an array of messages")
		return
	}
	r.Messages = make([]Message, 0, len(items))
	parts := make([][]leftOut, len(items))
	for i, raw := range items {
		m := newFields(fmt.Sprintf("messages[%d]", i), raw)
		r.Messages = append(r.Messages, parseMessage(m))
		f.adopt(m)
		if f.err != nil {
			return
		}
		parts[i] = m.leftOut
		for _, part := range m.leftOut {
			r.LeftOut = append(r.LeftOut, part.kind)
		}
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
		m.ToolCalls = functionCalls(raw)
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
	dropNulls(f.m)
	if len(f.m) > 0 {
		m.Extra = f.m
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
	parts := splitArray(raw)
	if len(parts) == 0 {
		f.fail("content", CodeInvalidValue, "%s must not be an empty array")
		return ""
	}
	texts := make([]string, 0, len(parts))
	for i, raw := range parts {
		p := newFields(fmt.Sprintf("%s[%d]", f.name("content"), i), raw)
		texts = append(texts, parsePart(p, role))
		f.adopt(p)
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
