package responses

import (
	"encoding/json"
	"time"

	"github.com/gorizond/koldun/internal/openai"
)

// A Response is the response object. Each key is always there.
type Response struct {
	ID               string            `json:"id"`
	Object           string            `json:"object"` // "response"
	Created          int64             `json:"created_at"`
	Completed        *int64            `json:"completed_at"`
	Status           string            `json:"status"`
	Incomplete       *Incomplete       `json:"incomplete_details"`
	Model            string            `json:"model"`
	PreviousID       *string           `json:"previous_response_id"`
	Instructions     *string           `json:"instructions"`
	Output           []json.RawMessage `json:"output"`
	Error            *Failure          `json:"error"`
	Tools            []json.RawMessage `json:"tools"`
	ToolChoice       choice            `json:"tool_choice"`
	Truncation       string            `json:"truncation"`
	Parallel         bool              `json:"parallel_tool_calls"`
	Text             Text              `json:"text"`
	TopP             float64           `json:"top_p"`
	PresencePenalty  float64           `json:"presence_penalty"`
	FrequencyPenalty float64           `json:"frequency_penalty"`
	TopLogprobs      int               `json:"top_logprobs"`
	Temperature      float64           `json:"temperature"`
	Reasoning        *Reasoning        `json:"reasoning"`
	Usage            *Usage            `json:"usage"`
	MaxOutputTokens  *int              `json:"max_output_tokens"`
	MaxToolCalls     *int              `json:"max_tool_calls"`
	Store            bool              `json:"store"`
	Background       bool              `json:"background"`
	ServiceTier      string            `json:"service_tier"`
	Metadata         map[string]string `json:"metadata"`
	SafetyIdentifier *string           `json:"safety_identifier"`
	PromptCacheKey   *string           `json:"prompt_cache_key"`
}

// The states of responses and items.
const (
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusIncomplete = "incomplete"
	statusFailed     = "failed"
)

// Incomplete says why a response is.
type Incomplete struct {
	Reason string `json:"reason"`
}

// A Failure says why a response failed.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Usage counts tokens. The specification and OpenAI's clients want each detail to be a number:
// it is 0 where the engine does not count it.
type Usage struct {
	InputTokens        int         `json:"input_tokens"`
	InputTokensDetails usageInput  `json:"input_tokens_details"`
	OutputTokens       int         `json:"output_tokens"`
	OutputDetails      usageOutput `json:"output_tokens_details"`
	TotalTokens        int         `json:"total_tokens"`
}

type usageInput struct {
	Cached int `json:"cached_tokens"`
}

type usageOutput struct {
	Reasoning int `json:"reasoning_tokens"`
}

func newUsage(u *openai.Usage) *Usage {
	if u == nil {
		return &Usage{}
	}
	out := &Usage{InputTokens: u.PromptTokens, OutputTokens: u.CompletionTokens, TotalTokens: u.TotalTokens}
	if n := u.Cached(); n != nil {
		out.InputTokensDetails.Cached = *n
	}
	if n := u.Reasoned(); n != nil {
		out.OutputDetails.Reasoning = *n
	}
	return out
}

// Options are what is known of an answer before it begins.
type Options struct {
	ID      string // without a prefix; who knows it can read the response
	Model   string // as it is resolved
	Created int64  // Unix time in seconds
	Now     func() time.Time
	// Keep gets a complete response, stores it if that is its wish, and reports
	// whether it did; nil: none is stored.
	Keep func(*Response) bool
}

// ResponseID returns the id of the response whose output has the item, and whether
// an item of ours can have such an id.
func ResponseID(itemID string) (string, bool) {
	for i := range len(itemID) {
		if itemID[i] == '_' {
			rest := itemID[i+1:]
			if len(rest) <= idSize {
				return "", false
			}
			return "resp_" + rest[:idSize], true
		}
	}
	return "", false
}

// idSize is the length of Options.ID.
const idSize = 26

// newResponse is a response without output. It repeats the effective values of the
// request.
func (r *Request) newResponse(o Options) *Response {
	out := &Response{
		ID: "resp_" + o.ID, Object: "response", Created: o.Created, Status: statusInProgress, Model: o.Model,
		Instructions: r.Instructions, Output: []json.RawMessage{}, Tools: r.shown, ToolChoice: r.choice, Truncation: "disabled",
		Parallel: r.parallel, Text: r.text, TopP: or(r.sampling.topP, 1), PresencePenalty: or(r.sampling.presence, 0),
		FrequencyPenalty: or(r.sampling.frequency, 0), TopLogprobs: r.topLogprobs, Temperature: or(r.sampling.temperature, 1),
		Reasoning: r.reasoning, MaxOutputTokens: r.maxTokens, MaxToolCalls: r.maxCalls, Store: r.Store, ServiceTier: "default",
		Metadata: r.metadata, SafetyIdentifier: r.safetyID, PromptCacheKey: r.cacheKey,
	}
	if out.Tools == nil {
		out.Tools = []json.RawMessage{}
	}
	if r.PreviousID != "" {
		out.PreviousID = &r.PreviousID
	}
	return out
}

func or(x *float64, otherwise float64) float64 {
	if x == nil {
		return otherwise
	}
	return *x
}

// Ignored names the parameters that have no effect, beside those that the chat has.
func (r *Request) Ignored() []string {
	if r.truncate {
		return []string{"truncation"}
	}
	return nil
}
