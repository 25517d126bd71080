package responses

import (
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// Chat returns the chat that asks the same. The items are the whole input: what
// PreviousID stands for, and the request's own, without references.
func (r *Request) Chat(items []Item) (openai.ChatRequest, error) {
	messages, err := r.messages(items)
	if err != nil {
		return openai.ChatRequest{}, err
	}
	body := make(map[string]any, 16)
	for name, raw := range r.extra {
		body[name] = raw
	}
	body["model"], body["messages"] = r.Model, messages
	if r.Stream {
		body["stream"], body["stream_options"] = true, map[string]bool{"include_usage": true}
	}
	if r.maxTokens != nil {
		body["max_completion_tokens"] = *r.maxTokens
	}
	for name, x := range map[string]*float64{
		"temperature": r.sampling.temperature, "top_p": r.sampling.topP,
		openai.HintPresencePenalty: r.sampling.presence, openai.HintFrequencyPenalty: r.sampling.frequency,
	} {
		if x != nil {
			body[name] = *x
		}
	}
	r.chatTools(body)
	if format := r.text.Format.chat(); format != nil {
		body["response_format"] = format
	}
	if r.text.Verbosity != "" {
		body["verbosity"] = r.text.Verbosity
	}
	if r.reasoning != nil && r.reasoning.Effort != nil {
		body["reasoning_effort"] = *r.reasoning.Effort
	}
	if r.logprobs {
		body["logprobs"], body["top_logprobs"] = true, r.topLogprobs
	}
	encoded, err := openai.Encode(body)
	if err != nil {
		return openai.ChatRequest{}, err
	}
	chat, err := openai.ParseChat(encoded)
	chat.LeftOut = slices.Sorted(slices.Values(r.leftOut))
	return chat, err
}

// A conversation becomes the messages of a chat, item by item. Texts that become one are
// joined once: joining each to those before takes time that is quadratic.
type conversation struct {
	messages []openai.Turn
	nameOf   func(functionName) string // in chats
	intro    []string                  // of the system message at the start
	thoughts []string                  // of the message of the assistant that follows
	calls    []string                  // in order
	open     map[string]bool           // by call; false: it has an output
}

// messages returns the messages of the chat. All instructions at the start are one
// message: many templates refuse a second one.
func (r *Request) messages(items []Item) ([]openai.Turn, error) {
	c := &conversation{nameOf: r.nameOf, open: map[string]bool{}}
	if r.Instructions != nil {
		c.add(openai.Turn{Role: openai.System, Content: *r.Instructions})
	}
	for _, item := range items {
		if err := c.item(item); err != nil {
			return nil, err
		}
	}
	for _, id := range c.calls {
		if c.open[id] {
			return nil, openai.BadRequest("input", "", "No tool output found for function call "+id+".")
		}
	}
	if len(c.intro) > 1 {
		c.messages[0].Content = strings.Join(c.intro, "\n\n")
	}
	return c.messages, nil
}

func (c *conversation) item(item Item) error {
	switch item.Kind {
	case KindMessage:
		m := openai.Turn{Role: item.Role, Content: item.Text}
		thoughts := c.takeThoughts()
		if item.Role == openai.Assistant {
			m.Reasoning = thoughts
		}
		c.add(m)
	case KindReasoning:
		c.thoughts = append(c.thoughts, item.Text)
	case KindCall:
		c.call(item)
	case KindCallOutput:
		if _, known := c.open[item.CallID]; !known {
			return openai.BadRequest("input", "", "No tool call found for function call output with call_id "+item.CallID+".")
		}
		c.open[item.CallID] = false
		c.add(openai.Turn{Role: openai.Tool, Content: item.Text, ToolCallID: item.CallID})
	case KindCompaction:
		c.add(openai.Turn{Role: openai.System, Content: summaryIntro + item.Text})
	}
	return nil
}

func (c *conversation) takeThoughts() string {
	thoughts := strings.TrimPrefix(strings.Join(c.thoughts, "\n"), "\n")
	c.thoughts = nil
	return thoughts
}

// call adds a call to the assistant's message before it, or else to a new one: chats
// have all calls of a turn in one message.
func (c *conversation) call(item Item) {
	last := len(c.messages) - 1
	thoughts := c.takeThoughts()
	if last < 0 || c.messages[last].Role != openai.Assistant || thoughts != "" {
		c.add(openai.Turn{Role: openai.Assistant, Reasoning: thoughts})
		last = len(c.messages) - 1
	}
	arguments := item.Arguments
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	m := &c.messages[last]
	m.ToolCalls = append(m.ToolCalls, openai.AnswerCall{ID: item.CallID, Type: "function", Function: openai.ToolFunction{Name: c.nameOf(item.function), Arguments: arguments}})
	c.calls = append(c.calls, item.CallID)
	c.open[item.CallID] = true
}

func (c *conversation) add(m openai.Turn) {
	if m.Role == openai.System && (len(c.messages) == 0 || len(c.messages) == 1 && c.messages[0].Role == openai.System) {
		c.intro = append(c.intro, m.Content)
		if len(c.messages) == 1 {
			return
		}
	}
	c.messages = append(c.messages, m)
}
