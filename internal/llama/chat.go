package llama

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/formats/tokenizer"
)

// A Message is one turn of a conversation.
type Message struct {
	Role    string // "system", "user" or "assistant"
	Content string
}

// A ChatTemplate names a format of prompts for conversations. The engine does
// not run the Jinja template of the tokenizer file; it recognises the format
// by markers in the template.
type ChatTemplate string

// The chat templates, by the names of distributed-llama.
const (
	Llama2    ChatTemplate = "llama2"
	Llama3    ChatTemplate = "llama3"
	DeepSeek3 ChatTemplate = "deepSeek3"
	ChatML    ChatTemplate = "chatml"
)

// markers identify the templates; the first match wins.
var markers = []struct {
	text     string
	template ChatTemplate
}{
	{"[INST]", Llama2},
	{"<|start_header_id|>", Llama3},
	{"<｜Assistant｜>", DeepSeek3},
	{"<|im_start|>", ChatML},
}

// trims matches templates that trim white space from the content of messages.
var trims = regexp.MustCompile(`content['"]?\]?\s*(\|\s*trim\b|\.strip\(\))`)

// A chat builds prompts in the format of one template.
type chat struct {
	template ChatTemplate
	trim     bool
	end      string // ends a turn
}

// newChat returns the chat of a given template or, for "", of the tokenizer's
// template. The error is Unsupported or, for an unknown given template,
// Invalid.
func newChat(f tokenizer.File, given ChatTemplate) (chat, error) {
	c := chat{template: given, trim: trims.MatchString(f.ChatTemplate), end: f.Tokens[f.EOS[0]].Text}
	if given == "" {
		for _, m := range slices.Backward(markers) {
			if strings.Contains(f.ChatTemplate, m.text) {
				c.template = m.template
			}
		}
	}
	switch c.template {
	case Llama2, DeepSeek3, ChatML:
		return c, nil
	case Llama3:
		c.end = llama3End(f)
		return c, nil
	case "":
		if f.ChatTemplate == "" {
			return chat{}, fault.Errorf(fault.Unsupported, "the tokenizer has no chat template")
		}
		return chat{}, fault.Errorf(fault.Unsupported, "the tokenizer's chat template is not one of llama2, llama3, deepSeek3, chatml")
	}
	return chat{}, fault.Errorf(fault.Invalid, "chat template %q is not one of llama2, llama3, deepSeek3, chatml", given)
}

// llama3End returns <|eot_id|> if it is one of the end tokens, else the first
// end token: Llama 3.1 lists <|end_of_text|> first, which ends documents and
// not turns.
func llama3End(f tokenizer.File) string {
	const turn = "<|eot_id|>"
	for _, id := range f.EOS {
		if f.Tokens[id].Text == turn {
			return turn
		}
	}
	return f.Tokens[f.EOS[0]].Text
}

// prompt returns the text that the model continues, without the BOS token, and
// the text with which the template makes the answer begin.
func (c chat) prompt(messages []Message) (text, begun string) {
	if c.trim {
		messages = slices.Clone(messages)
		for i := range messages {
			messages[i].Content = strings.TrimSpace(messages[i].Content)
		}
	}
	switch c.template {
	case Llama2:
		return c.llama2(messages), ""
	case Llama3:
		return c.llama3(messages), ""
	case DeepSeek3:
		return c.deepSeek3(messages), "<think>\n"
	}
	return c.chatML(messages), ""
}

func (c chat) llama2(messages []Message) string {
	var b strings.Builder
	if len(messages) > 1 && messages[0].Role == "system" && messages[1].Role == "user" {
		b.WriteString("[INST] <<SYS>>\n" + messages[0].Content + "\n<</SYS>>\n\n" + messages[1].Content + " [/INST]" + c.end)
		messages = messages[2:]
	}
	for _, m := range messages {
		switch m.Role {
		case "user":
			b.WriteString("[INST] " + m.Content + " [/INST]" + c.end)
		case "assistant":
			b.WriteString(m.Content + c.end)
		}
	}
	return b.String()
}

func (c chat) llama3(messages []Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString("<|start_header_id|>" + m.Role + "<|end_header_id|>\n\n" + m.Content + c.end)
	}
	b.WriteString("<|start_header_id|>assistant<|end_header_id|>\n\n")
	return b.String()
}

func (c chat) deepSeek3(messages []Message) string {
	var b strings.Builder
	if len(messages) > 0 && messages[0].Role == "system" {
		b.WriteString(messages[0].Content)
		messages = messages[1:]
	}
	for _, m := range messages {
		switch m.Role {
		case "user":
			b.WriteString("<｜User｜>" + m.Content)
		case "assistant":
			b.WriteString("<｜Assistant｜>" + m.Content)
		}
	}
	b.WriteString("<｜Assistant｜><think>\n")
	return b.String()
}

func (c chat) chatML(messages []Message) string {
	var b strings.Builder
	for _, m := range messages {
		switch m.Role {
		case "system", "user", "assistant":
			b.WriteString("<|im_start|>" + m.Role + "\n" + m.Content + "<|im_end|>\n")
		}
	}
	b.WriteString("<|im_start|>assistant\n")
	return b.String()
}
