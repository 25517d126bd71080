package openai

// A Turn is a message of the chat that another API's request becomes. ParseChat reads
// it.
type Turn struct {
	Role       Role         `json:"role"`
	Content    string       `json:"content"`
	Reasoning  string       `json:"reasoning_content,omitempty"` // of the Assistant
	ToolCalls  []AnswerCall `json:"tool_calls,omitempty"`        // of the Assistant
	ToolCallID string       `json:"tool_call_id,omitempty"`      // of a Tool
}
