package messages

import (
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// A conversation becomes the messages of a chat. Texts that become one are joined once:
// joining each to those before takes time that is quadratic.
type conversation struct {
	messages []openai.Turn
	joined   []string        // texts of the last message
	calls    []string        // since all had a result
	open     map[string]bool // those without a result, which the next message must have
	unread   unread          // the first block of the message that the model cannot read
	ofTool   bool            // the message has the result of a tool so far, to which its images belong
	leaveOut func(kind string)
}

// An unread is a block that no model here reads, by its name in the request.
type unread struct{ name, kind string }

// say adds text, to the message before it if that has the same role.
func (c *conversation) say(role openai.Role, text string) {
	if n := len(c.messages); n > 0 && c.messages[n-1].Role == role && len(c.messages[n-1].ToolCalls) == 0 {
		c.joined = append(c.joined, text)
		return
	}
	c.add(openai.Turn{Role: role})
	c.joined = append(c.joined, text)
}

// add begins another message.
func (c *conversation) add(m openai.Turn) {
	c.join()
	c.messages = append(c.messages, m)
}

// join gives the last message its texts.
func (c *conversation) join() {
	c.joined = slices.DeleteFunc(c.joined, func(text string) bool { return text == "" })
	if len(c.joined) > 0 {
		c.messages[len(c.messages)-1].Content = strings.Join(c.joined, "\n")
	}
	c.joined = nil
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

func (c *conversation) parse(o openai.Object) {
	role, _ := o.Text("role")
	switch role {
	case "user", "assistant", "system":
	default:
		o.Fail("role", openai.CodeInvalidValue, "%s must be 'user' or 'assistant'")
		return
	}
	text, blocks, isText := o.TextOrArray("content", "a string or an array of blocks")
	if !isText && blocks == nil {
		o.Fail("content", openai.CodeMissing, "%s is required: a string or an array of blocks")
		return
	}
	if isText {
		c.answered(o)
		c.say(openai.Role(role), text)
		return
	}
	for _, b := range o.Objects("content", blocks, maxBlocks) {
		c.block(b, openai.Role(role))
	}
	if role == "user" {
		c.answered(o)
	}
}

func (c *conversation) block(o openai.Object, role openai.Role) {
	kind, _ := o.Text("type")
	switch {
	case kind == "text":
		text, ok := o.Text("text")
		if !ok {
			o.Fail("text", openai.CodeMissing, "%s is required: a string")
		}
		c.say(role, text)
	case kind == "tool_result" && role == openai.User:
		c.result(o)
	case kind == "tool_use" && role == openai.Assistant:
		c.use(o)
	case kind == "thinking" && role == openai.Assistant:
		text, _ := o.Text("thinking")
		c.add(openai.Turn{Role: role, Reasoning: text})
	case kind == "redacted_thinking" && role == openai.Assistant:
	case foreign(kind):
		c.leaveOut(kind)
	default:
		text, leftOut, ok := c.standIn(o, kind)
		switch {
		case leftOut && !c.ofTool && c.unread.kind == "":
			c.unread = unread{o.Name("type"), kind}
		case !ok:
			o.Fail("type", openai.CodeUnsupportedValue, "%s is not supported here")
		}
		c.say(role, text)
	}
}

// foreign reports whether a block of a history belongs to a tool that Anthropic hosts, such
// as web_search_tool_result or mcp_tool_use.
func foreign(kind string) bool {
	return kind == "server_tool_use" || kind == "mcp_tool_use" || kind == "container_upload" || kind != "tool_result" && strings.HasSuffix(kind, "_tool_result")
}

// use adds a call to the message of the assistant.
func (c *conversation) use(o openai.Object) {
	id, _ := o.Text("id")
	name, _ := o.Text("name")
	if id == "" || name == "" {
		o.Fail("id", openai.CodeMissing, "%s and a 'name' are required")
	}
	n := len(c.messages)
	if n == 0 || c.messages[n-1].Role != openai.Assistant {
		c.add(openai.Turn{Role: openai.Assistant})
		n++
	}
	m := &c.messages[n-1]
	m.ToolCalls = append(m.ToolCalls, openai.AnswerCall{ID: id, Type: "function", Function: openai.ToolFunction{Name: name, Arguments: input(o)}})
	if c.open == nil {
		c.open = map[string]bool{}
	}
	c.calls, c.open[id] = append(c.calls, id), true
}

// result adds the result of a call. Chats have no mark for results that are errors.
func (c *conversation) result(o openai.Object) {
	id, _ := o.Text("tool_use_id")
	if !c.open[id] {
		o.Fail("tool_use_id", openai.CodeInvalidValue, "%s must name a 'tool_use' of the message before")
	}
	c.ofTool = true
	delete(c.open, id)
	text := ""
	if o.Has("content") {
		text = c.parseText(o, "content")
	}
	if o.Boolean("is_error", false) {
		text = "Error: " + text
	}
	c.add(openai.Turn{Role: openai.Tool, Content: text, ToolCallID: id})
}

// answered fails if calls have no result.
func (c *conversation) answered(o openai.Object) {
	for _, id := range c.calls {
		if c.open[id] {
			o.Fail("content", openai.CodeInvalidValue, "%s must begin with a 'tool_result' for each 'tool_use' of the message before: '"+id+"' has none")
			break
		}
	}
	c.calls, c.open = nil, nil
}
