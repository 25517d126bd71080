package openai

// The finish reasons Koldun gives.
const (
	FinishStop      = "stop"       // the model ended, or a stop sequence came
	FinishLength    = "length"     // the token limit or the end of the context came
	FinishToolCalls = "tool_calls" // the model calls tools
)

// A ChatCompletion is the answer to a request that does not stream.
type ChatCompletion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"` // "chat.completion"
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []Choice `json:"choices"`
	Usage   *Usage   `json:"usage,omitempty"`
}

// A Choice is the one answer in a ChatCompletion.
type Choice struct {
	Index        int       `json:"index"`
	Message      Answer    `json:"message"`
	Logprobs     *Logprobs `json:"logprobs"`
	FinishReason string    `json:"finish_reason"`
}

// An Answer is the message of the assistant.
type Answer struct {
	Role    Role    `json:"role"`
	Content string  `json:"content"`
	Refusal *string `json:"refusal"`
	// ToolCalls are whole; their index is their place in the list.
	ToolCalls []AnswerCall `json:"tool_calls,omitempty"`
	// ReasoningContent holds the thoughts before the answer, as DeepSeek's API
	// and servers of open models name them.
	ReasoningContent string `json:"reasoning_content,omitempty"`
}

// An AnswerCall is a whole call of a tool.
type AnswerCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function ToolFunction `json:"function"`
}

// SetParts adds what the answer has beside its text, but for thoughts.
func (c *Choice) SetParts(p *Parts) {
	if p.Refusal != "" {
		c.Message.Refusal = &p.Refusal
	}
	for _, call := range p.ToolCalls {
		c.Message.ToolCalls = append(c.Message.ToolCalls, AnswerCall{ID: call.ID, Type: call.Type, Function: call.Function})
	}
	c.Logprobs = p.Logprobs
}

// Usage counts tokens. Details are those that the engine gives: what it does not count is
// absent, and no 0.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`

	PromptDetails     *PromptDetails     `json:"prompt_tokens_details,omitempty"`
	CompletionDetails *CompletionDetails `json:"completion_tokens_details,omitempty"`
}

// PromptDetails count tokens of a prompt.
type PromptDetails struct {
	CachedTokens *int `json:"cached_tokens,omitempty"` // that were not computed again
}

// CompletionDetails count tokens of an answer.
type CompletionDetails struct {
	ReasoningTokens *int `json:"reasoning_tokens,omitempty"` // of thoughts
}

// Cached returns how many tokens of the prompt were not computed again; nil: not known.
func (u *Usage) Cached() *int {
	if u == nil || u.PromptDetails == nil {
		return nil
	}
	return u.PromptDetails.CachedTokens
}

// Reasoned returns how many tokens of the answer are thoughts; nil: not known.
func (u *Usage) Reasoned() *int {
	if u == nil || u.CompletionDetails == nil {
		return nil
	}
	return u.CompletionDetails.ReasoningTokens
}

// WithDetails adds the details that are known.
func (u *Usage) WithDetails(cached, reasoned *int) *Usage {
	if cached != nil {
		u.PromptDetails = &PromptDetails{CachedTokens: cached}
	}
	if reasoned != nil {
		u.CompletionDetails = &CompletionDetails{ReasoningTokens: reasoned}
	}
	return u
}

// NewUsage adds up.
func NewUsage(prompt, completion int) *Usage {
	return &Usage{PromptTokens: prompt, CompletionTokens: completion, TotalTokens: prompt + completion}
}

// NewCompletion is a complete answer.
func NewCompletion(id, model string, created int64, text, finish string, usage *Usage) ChatCompletion {
	return ChatCompletion{
		ID: id, Object: "chat.completion", Created: created, Model: model, Usage: usage,
		Choices: []Choice{{Message: Answer{Role: Assistant, Content: text}, FinishReason: finish}},
	}
}

// A Chunk is one event of a streamed answer.
type Chunk struct {
	ID      string        `json:"id"`
	Object  string        `json:"object"` // "chat.completion.chunk"
	Created int64         `json:"created"`
	Model   string        `json:"model"`
	Choices []ChunkChoice `json:"choices"` // one, or none in the usage chunk
	Usage   *Usage        `json:"usage,omitempty"`
}

// A ChunkChoice is the new part of the answer.
type ChunkChoice struct {
	Index        int       `json:"index"`
	Delta        Delta     `json:"delta"`
	Logprobs     *Logprobs `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"` // null until the last
	// StopReason is the stop sequence that ended the answer, as vLLM names it. Only the
	// embedded engine sends it.
	StopReason string `json:"stop_reason,omitempty"`
}

// A Delta is what a chunk adds to the message.
type Delta struct {
	Role    Role    `json:"role,omitempty"` // in the first chunk only
	Content *string `json:"content,omitempty"`

	ReasoningContent *string    `json:"reasoning_content,omitempty"`
	Refusal          *string    `json:"refusal,omitempty"`
	ToolCalls        []ToolCall `json:"tool_calls,omitempty"`
}

// A Model is one entry of the models list.
type Model struct {
	ID      string `json:"id"`     // "namespace/name"
	Object  string `json:"object"` // "model"
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`

	// Extensions of the gateway. OpenAI's clients ignore them.
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	SizeBytes int64  `json:"size_bytes,omitempty"` // of all files; absent while not known
	SizeHuman string `json:"size_human,omitempty"`
	// ContextLength is the longest context of the model in tokens; absent while not
	// known.
	ContextLength int `json:"context_length,omitempty"`
	// Operations and Features are those of the runners of the model; absent while
	// none is known.
	Operations []Operation `json:"operations,omitempty"`
	Features   []string    `json:"features,omitempty"`
}

// A ModelList is the answer to GET /v1/models.
type ModelList struct {
	Object string  `json:"object"` // "list"
	Data   []Model `json:"data"`
}
