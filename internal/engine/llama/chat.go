package llama

import (
	"context"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
	jinjachat "github.com/gorizond/koldun/internal/model/jinja/chat"
	"github.com/gorizond/koldun/internal/model/toolcall"
)

// A Message is one turn of a conversation.
type Message = jinjachat.Message

// A ChatTemplate names a format of prompts for conversations.
type ChatTemplate string

// The chat templates: the model's own, and those that distributed-llama knows,
// by its names.
const (
	Jinja     ChatTemplate = "jinja" // evaluates the Jinja template of the tokenizer file
	Llama2    ChatTemplate = "llama2"
	Llama3    ChatTemplate = "llama3"
	DeepSeek3 ChatTemplate = "deepSeek3"
	ChatML    ChatTemplate = "chatml"
)

// A chat builds prompts in the format of one template.
type chat struct {
	template ChatTemplate
	own      *jinjachat.Template // for Jinja
	family   toolcall.Family     // format of calls of tools
	bos      string              // begins the prompt of another template, or ""
	end      string              // ends a turn
}

// newChat returns the chat of a given template or, for "", of the tokenizer's
// template. The error is Unsupported or, for an unknown given template,
// Invalid.
func newChat(f tokenizer.File, given ChatTemplate) (chat, error) {
	c := chat{template: given, end: f.TurnEnd(), family: toolcall.Generic}
	if f.AddBOS {
		c.bos = f.Tokens[f.BOS].Text
	}
	switch given {
	case Llama2, Llama3, DeepSeek3, ChatML:
		return c, nil
	case "", Jinja:
		if f.ChatTemplate == "" {
			return chat{}, fault.Errorf(fault.Unsupported, "the tokenizer has no chat template")
		}
		own, err := jinjachat.Parse(f.ChatTemplate, f.Tokens[f.BOS].Text, c.end)
		if err != nil {
			return chat{}, err
		}
		c.template, c.own = Jinja, own
		if own.ShowsTools(context.Background()) {
			c.family = toolcall.Detect(f.ChatTemplate)
		}
		return c, nil
	}
	return chat{}, fault.Errorf(fault.Invalid, "chat template %q is not one of jinja, llama2, llama3, deepSeek3, chatml", given)
}

// prompt returns the text that the model continues and the text with which the
// template makes the answer begin. Content of messages is plain: it cannot
// hold special tokens. A template of its own decides whether the prompt begins
// with BOS, as for transformers.
//
// Tools are in the prompt as the template writes them, or in the system message if
// it does not, or in a format that is not known.
func (c chat) prompt(ctx context.Context, messages []Message, tools []toolcall.Tool) (parts []tokenizer.Part, begun string, err error) {
	if c.family == toolcall.Generic {
		messages, tools = toolcall.Instruct(messages, tools), nil
	}
	if c.own != nil {
		return c.evaluate(ctx, jinjachat.Conversation{Messages: messages, Tools: toolcall.List(tools)})
	}
	p := &prompt{}
	p.control(c.bos)
	switch c.template {
	case Llama2:
		c.llama2(p, messages)
	case Llama3:
		c.llama3(p, messages)
	case DeepSeek3:
		c.deepSeek3(p, messages)
		begun = "<think>\n"
	default:
		c.chatML(p, messages)
	}
	return p.parts, begun, nil
}

func (c chat) evaluate(ctx context.Context, talk jinjachat.Conversation) (parts []tokenizer.Part, begun string, err error) {
	segments, err := c.own.Prompt(ctx, talk)
	if err != nil {
		return nil, "", err
	}
	for _, s := range segments {
		parts = append(parts, tokenizer.Part{Text: s.Text, Plain: s.Foreign})
	}
	if n := len(parts); n > 0 && !parts[n-1].Plain {
		begun = thinking(parts[n-1].Text)
	}
	return parts, begun, nil
}

// thinking returns the end of a prompt that opens a block of reasoning: the
// model writes only its end, so that the answer would lack its beginning.
func thinking(prompt string) string {
	const open = "<think>"
	at := strings.LastIndex(prompt, open)
	if at < 0 || strings.TrimSpace(prompt[at+len(open):]) != "" {
		return ""
	}
	return prompt[at:]
}

// A prompt collects the parts of a prompt.
type prompt struct{ parts []tokenizer.Part }

func (p *prompt) control(s string) { p.parts = append(p.parts, tokenizer.Part{Text: s}) }

func (p *prompt) plain(s string) { p.parts = append(p.parts, tokenizer.Part{Text: s, Plain: true}) }

func (c chat) llama2(p *prompt, messages []Message) {
	if len(messages) > 1 && messages[0].Role == "system" && messages[1].Role == "user" {
		p.control("[INST] <<SYS>>\n")
		p.plain(messages[0].Content)
		p.control("\n<</SYS>>\n\n")
		p.plain(messages[1].Content)
		p.control(" [/INST]" + c.end)
		messages = messages[2:]
	}
	for _, m := range messages {
		switch m.Role {
		case "user":
			p.control("[INST] ")
			p.plain(m.Content)
			p.control(" [/INST]" + c.end)
		case "assistant":
			p.plain(m.Content)
			p.control(c.end)
		}
	}
}

func (c chat) llama3(p *prompt, messages []Message) {
	for _, m := range messages {
		p.control("<|start_header_id|>")
		p.plain(m.Role)
		p.control("<|end_header_id|>\n\n")
		p.plain(m.Content)
		p.control(c.end)
	}
	p.control("<|start_header_id|>assistant<|end_header_id|>\n\n")
}

func (c chat) deepSeek3(p *prompt, messages []Message) {
	if len(messages) > 0 && messages[0].Role == "system" {
		p.plain(messages[0].Content)
		messages = messages[1:]
	}
	for _, m := range messages {
		switch m.Role {
		case "user":
			p.control("<｜User｜>")
			p.plain(m.Content)
		case "assistant":
			p.control("<｜Assistant｜>")
			p.plain(m.Content)
		}
	}
	p.control("<｜Assistant｜><think>\n")
}

func (c chat) chatML(p *prompt, messages []Message) {
	for _, m := range messages {
		if slices.Contains([]string{"system", "user", "assistant"}, m.Role) {
			p.control("<|im_start|>" + m.Role + "\n")
			p.plain(m.Content)
			p.control("<|im_end|>\n")
		}
	}
	p.control("<|im_start|>assistant\n")
}
