package messages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// A Message is a complete answer.
type Message struct {
	ID           string  `json:"id"`
	Type         string  `json:"type"` // "message"
	Role         string  `json:"role"` // "assistant"
	Model        string  `json:"model"`
	Content      []block `json:"content"`
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"` // null as well if the engine does not say which one came
	Usage        usage   `json:"usage"`
}

// A block is a part of an answer. Each kind uses some of the fields.
type block struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

// usage counts tokens as Anthropic does: those of a cache are no input, and null is not known.
type usage struct {
	InputTokens   int  `json:"input_tokens"`
	CacheCreation *int `json:"cache_creation_input_tokens"`
	CacheRead     *int `json:"cache_read_input_tokens"`
	OutputTokens  int  `json:"output_tokens"`
}

func newUsage(u *openai.Usage) usage {
	out := usage{InputTokens: u.PromptTokens, CacheRead: u.Cached(), OutputTokens: u.CompletionTokens}
	if out.CacheRead != nil {
		out.InputTokens = max(0, out.InputTokens-*out.CacheRead)
	}
	return out
}

func newMessage(id, model string) Message {
	return Message{ID: id, Type: "message", Role: "assistant", Model: model, Content: []block{}}
}

// NewMessage is a complete answer. The parts have no thoughts.
func NewMessage(id, model, thoughts, text string, p *openai.Parts, finish string, u *openai.Usage) Message {
	m := newMessage(id, model)
	if thoughts != "" {
		m.Content = append(m.Content, block{Type: "thinking", Thinking: &thoughts, Signature: new("")})
	}
	if text += p.Refusal; text != "" {
		m.Content = append(m.Content, block{Type: "text", Text: &text})
	}
	for i, c := range p.ToolCalls {
		m.Content = append(m.Content, block{Type: "tool_use", ID: callID(c.ID, id, i), Name: c.Function.Name, Input: arguments(c.Function.Arguments)})
	}
	stop := stopOf(finish, p.Refusal != "", len(p.ToolCalls) > 0, p.StopSequence)
	m.StopReason, m.StopSequence = &stop.StopReason, stop.StopSequence
	if u != nil {
		m.Usage = newUsage(u)
	}
	return m
}

func callID(id, message string, i int) string {
	return cmp.Or(id, fmt.Sprintf("toolu_%s%d", strings.TrimPrefix(message, "msg_"), i))
}

// A stop says why an answer ended.
type stop struct {
	StopReason   string  `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
}

func stopOf(finish string, refused, calls bool, sequence string) stop {
	switch {
	case finish == openai.FinishLength:
		return stop{StopReason: "max_tokens"}
	case refused || finish == "content_filter":
		return stop{StopReason: "refusal"}
	case calls || finish == openai.FinishToolCalls:
		return stop{StopReason: "tool_use"}
	case sequence != "":
		return stop{"stop_sequence", &sequence}
	}
	return stop{StopReason: "end_turn"}
}

// A Failure is an error in the shape of the API.
type Failure struct {
	Type  string `json:"type"` // "error"
	Error struct {
		Type    string   `json:"type"`
		Message string   `json:"message"`
		Details *details `json:"details,omitempty"`
	} `json:"error"`
}

// details are what programs need of an error.
type details struct {
	ErrorCode   string   `json:"error_code"`
	Unsupported []string `json:"unsupported"`
}

// codeThread is the code of a request for a conversation that the server holds. Clients
// that get it send the whole conversation instead.
const codeThread = "thread_unsupported_request"

var failures = map[int]string{
	http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error", http.StatusNotFound: "not_found_error",
	http.StatusConflict: "conflict_error", http.StatusRequestEntityTooLarge: "request_too_large", http.StatusTooManyRequests: "rate_limit_error",
	http.StatusServiceUnavailable: "overloaded_error", http.StatusGatewayTimeout: "timeout_error",
}

// own are the names that parameters of chats have here.
var own = strings.NewReplacer("'response_format'", "'output_config.format'", "'max_completion_tokens'", "'max_tokens'", "'stop'", "'stop_sequences'",
	"'reasoning_effort'", "'output_config.effort'")

// Fail returns an error in the shape of the API.
func Fail(e *openai.Error) *Failure {
	f := &Failure{Type: "error"}
	f.Error.Message, f.Error.Type = own.Replace(e.Message), failures[e.Status]
	switch {
	case f.Error.Type != "":
	case e.Status >= http.StatusInternalServerError:
		f.Error.Type = "api_error"
	default:
		f.Error.Type = "invalid_request_error"
	}
	if e.Code == codeThread {
		f.Error.Details = &details{ErrorCode: e.Code, Unsupported: []string{e.Param}}
	}
	return f
}
