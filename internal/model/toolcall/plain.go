package toolcall

import (
	"context"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/jinja"
	"github.com/gorizond/koldun/internal/model/jinja/chat"
	"github.com/gorizond/koldun/internal/openai"
)

// A Plain writes conversations with tools as messages of nothing but role and text,
// for an engine that puts these between the marks of turns itself: it renders the
// conversation by the model's own template, and takes the texts between the marks.
// Where that is not possible, tools are in the system message, as for Generic. It
// is safe for concurrent use.
type Plain struct {
	template *chat.Template
	family   Family
	frame    frame
}

// A PlainMessage is a message of role and text.
type PlainMessage struct{ Role, Content string }

// A frame is how an engine marks turns.
type frame struct {
	open, named, end string   // before the role, after it, and after the text
	roles            []string // that there are; nil: all
}

// frames are those of distributed-llama from which texts can be taken, by the words
// in the template by which it chooses them. It looks for these words in this order.
var frames = []struct {
	word  string
	frame frame
}{
	{"[INST]", frame{}},
	{"<|start_header_id|>", frame{open: "<|start_header_id|>", named: "<|end_header_id|>\n\n", end: "<|eot_id|>"}},
	{"<｜Assistant｜>", frame{}},
	{"<|im_start|>", frame{open: "<|im_start|>", named: "\n", end: "<|im_end|>", roles: []string{"system", "user", "assistant"}}},
}

// NewPlain returns a Plain for a chat template and the texts of its begin and end
// tokens.
func NewPlain(ctx context.Context, template, bos, eos string) *Plain {
	p := &Plain{family: Generic}
	own, err := chat.Parse(template, bos, eos)
	if err != nil || !own.ShowsTools(ctx) {
		return p
	}
	for _, f := range frames {
		if strings.Contains(template, f.word) {
			if f.frame.open != "" {
				p.template, p.family, p.frame = own, Detect(template), f.frame
			}
			break
		}
	}
	return p
}

// Family is the family of the answers.
func (p *Plain) Family() Family { return p.family }

// Messages returns the messages for a conversation. The error is an *openai.Error,
// Invalid, Unsupported or, if ctx ends, Interrupted.
func (p *Plain) Messages(ctx context.Context, messages []openai.Message, tools []Tool) ([]PlainMessage, error) {
	talk, bad := History(p.family, messages)
	if bad != nil {
		return nil, bad
	}
	if p.family == Generic {
		var out []PlainMessage
		for _, m := range Instruct(talk, tools) {
			out = append(out, PlainMessage{m.Role, m.Content})
		}
		return out, nil
	}
	segments, err := p.template.Prompt(ctx, chat.Conversation{Messages: talk, Tools: List(tools)})
	if err != nil {
		return nil, err
	}
	out, ok := p.frame.split(segments)
	if !ok {
		return nil, fault.Errorf(fault.Unsupported, "cannot write the conversation for the engine: the chat template of the model has text outside of turns")
	}
	return out, nil
}

// split returns the turns of a prompt but for the last, which the model continues.
// What clients write holds no marks.
func (f frame) split(segments []jinja.Segment) ([]PlainMessage, bool) {
	var text strings.Builder
	var own []bool // by byte: the template has written it
	for _, s := range segments {
		text.WriteString(s.Text)
		own = append(own, slices.Repeat([]bool{!s.Foreign}, len(s.Text))...)
	}
	prompt, at := text.String(), 0
	// next returns what comes before a mark of the template, and moves behind it.
	next := func(mark string) (string, bool) {
		for from := at; ; {
			i := strings.Index(prompt[from:], mark)
			if i < 0 {
				return "", false
			}
			if i += from; !slices.Contains(own[i:i+len(mark)], false) {
				before := prompt[at:i]
				at = i + len(mark)
				return before, true
			}
			from = i + 1
		}
	}
	var out []PlainMessage
	for {
		before, found := next(f.open)
		if !found || len(out) > 0 && strings.TrimSpace(before) != "" {
			return nil, false
		}
		role, found := next(f.named)
		if !found { // Jinja drops a line end at the end
			return out, len(out) > 0 && prompt[at:] == "assistant"
		}
		content, found := next(f.end)
		if !found {
			return out, len(out) > 0 && role == "assistant"
		}
		if f.roles != nil && !slices.Contains(f.roles, role) {
			role = "user" // the engine would leave out the message
		}
		out = append(out, PlainMessage{role, content})
	}
}
