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

// A ChatTemplate says how a conversation becomes a prompt. Templates in the
// language of the tokenizer file (Jinja) are not run: what they make is known
// by the markers in them.
type ChatTemplate string

// The chat templates, by the names of distributed-llama.
const (
	Llama2    ChatTemplate = "llama2"
	Llama3    ChatTemplate = "llama3"
	DeepSeek3 ChatTemplate = "deepSeek3"
	ChatML    ChatTemplate = "chatml"
)

// markers tell the templates apart; the first that is found counts.
var markers = []struct {
	text     string
	template ChatTemplate
}{
	{"[INST]", Llama2},
	{"<|start_header_id|>", Llama3},
	{"<｜Assistant｜>", DeepSeek3},
	{"<|im_start|>", ChatML},
}

// trims matches templates that take white space off the content of messages.
var trims = regexp.MustCompile(`content['"]?\]?\s*(\|\s*trim\b|\.strip\(\))`)

// A chat makes prompts in the way of one template.
type chat struct {
	template ChatTemplate
	trim     bool
	end      string // ends a turn
}

// newChat finds out the template of a tokenizer, unless it is given. The error
// is Unsupported or, for a given one that does not exist, Invalid.
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
		return chat{}, fault.Errorf(fault.Unsupported, "the tokenizer's chat template is not of a kind known here (llama2, llama3, deepSeek3, chatml)")
	}
	return chat{}, fault.Errorf(fault.Invalid, "chat template %q is not one of llama2, llama3, deepSeek3, chatml", given)
}

// llama3End is <|eot_id|> if that ends answers, whatever else does: Llama 3.1
// names <|end_of_text|> first, which ends documents and not turns.
func llama3End(f tokenizer.File) string {
	const turn = "<|eot_id|>"
	for _, id := range f.EOS {
		if f.Tokens[id].Text == turn {
			return turn
		}
	}
	return f.Tokens[f.EOS[0]].Text
}

// prompt builds the text after which the model answers, without the token that
// begins every text. What the template makes the model begin its answer with
// is returned as well; it belongs to the answer.
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
