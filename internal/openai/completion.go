package openai

import (
	"encoding/json"
	"math"
	"strconv"
)

// defaultCompletionTokens is the max_tokens of a completion that names none, as
// OpenAI documents it.
const defaultCompletionTokens = 16

// ParseCompletion reads and validates the body of POST /v1/completions
// (https://platform.openai.com/docs/api-reference/completions). Engines of
// distributed-llama support chats only, so the prompt becomes a chat of one
// message of the user, in the model's chat template. ParseCompletion refuses what
// a chat cannot do: several prompts, tokens instead of text, suffix, echo. The log probabilities of a completion become those of a chat. The error names the parameter; it is always an *Error
// with status 400.
func ParseCompletion(body []byte) (ChatRequest, error) {
	if err := check(body); err != nil {
		return ChatRequest{}, err
	}
	f := newFields(body)
	r := ChatRequest{Hints: map[string]json.RawMessage{}}
	parseModel(f, &r)
	parsePrompt(f, &r)
	parseStream(f, &r)
	limit, ok := f.integer("max_tokens", 1, math.MaxInt32)
	if !ok {
		limit = defaultCompletionTokens
	}
	r.MaxTokens = int(limit)
	parseChoices(f, &r)
	parseSampling(f, &r)
	refuseCompletion(f, &r)
	logprobs := f.take("logprobs")
	parseFeatures(f, &r)
	refuseNeeds(f)
	parseCompletionLogprobs(f, &r, logprobs)
	refuseUnsupported(f)
	parseHints(f, &r)
	return finish(f, r)
}

func parsePrompt(f *fields, r *ChatRequest) {
	raw := f.take("prompt")
	prompt := raw
	if kindOf(raw) == "an array" {
		prompt = nil
		for i, item := range elements(raw) {
			kind := kindOf(item)
			if kind == "a number" || kind == "an array" {
				f.fail("prompt", CodeUnsupportedValue, "%s cannot be tokens here: send text")
			}
			if i > 0 {
				f.fail("prompt", CodeUnsupportedValue, "%s can hold one prompt only: send several requests")
				break
			}
			prompt = item
		}
		if prompt == nil {
			f.fail("prompt", CodeInvalidValue, "%s must not be empty")
		}
	}
	if raw == nil {
		f.fail("prompt", CodeMissing, "%s is required: a string")
	}
	var text string
	if f.err == nil {
		var ok bool
		if text, ok = unquote(prompt); !ok {
			f.wrongType("prompt", "a string or an array of one string", raw)
		}
	}
	r.Messages = []Message{{Role: User, Content: text}}
}

// refuseCompletion fails on parameters of completions that chats do not have.
func refuseCompletion(f *fields, r *ChatRequest) {
	if s, _ := f.text("suffix"); s != "" {
		f.fail("suffix", CodeUnsupported, "%s is not supported here: the models served do not fill in gaps")
	}
	if f.boolean("echo") {
		f.fail("echo", CodeUnsupported, "%s is not supported here: the prompt is not repeated")
	}
	if best, ok := f.integer("best_of", 1, 20); ok && best != int64(max(r.Choices, 1)) && best != 1 {
		f.fail("best_of", CodeUnsupportedValue, "%s must be 1 or equal to 'n': all choices are returned here")
	}
}

// maxCompletionLogprobs is the most alternatives of each token, as OpenAI has it.
const maxCompletionLogprobs = 5

// parseCompletionLogprobs takes the number of alternatives of each token, which may
// be 0, and keeps it as a chat has it. The normal form of a completion has it so,
// too, and false stands for none.
func parseCompletionLogprobs(f *fields, r *ChatRequest, raw json.RawMessage) {
	if raw == nil || isFalse(raw) {
		return
	}
	f.m["logprobs"] = raw
	n, ok := f.integer("logprobs", 0, maxCompletionLogprobs)
	if !ok {
		return
	}
	r.keep(f, "logprobs", json.RawMessage("true"), FeatureLogprobs, "log probabilities")
	if n > 0 {
		r.keep(f, "top_logprobs", json.RawMessage(strconv.FormatInt(n, 10)), "", "")
	}
}

func isFalse(raw json.RawMessage) bool {
	var b bool
	return json.Unmarshal(raw, &b) == nil && !b
}

// A Completion is the answer to a completion that does not stream.
type Completion struct {
	ID      string             `json:"id"`
	Object  string             `json:"object"` // "text_completion"
	Created int64              `json:"created"`
	Model   string             `json:"model"`
	Choices []CompletionChoice `json:"choices"` // one, or none in the usage chunk of a stream
	Usage   *Usage             `json:"usage,omitempty"`
}

// A CompletionChoice is the one text in a Completion, or a piece of it in a
// stream.
type CompletionChoice struct {
	Text         string              `json:"text"`
	Index        int                 `json:"index"`
	Logprobs     *CompletionLogprobs `json:"logprobs"`
	FinishReason *string             `json:"finish_reason"` // null until the last piece
}

// SetParts adds what the answer has beside its text: a completion has no place
// but for log probabilities.
func (c *CompletionChoice) SetParts(p *Parts) {
	var begin textOffset
	c.Logprobs = begin.completion(p.Logprobs)
}

// NewText is a complete answer to a completion.
func NewText(id, model string, created int64, text, finish string, usage *Usage) Completion {
	return Completion{
		ID: id, Object: "text_completion", Created: created, Model: model, Usage: usage,
		Choices: []CompletionChoice{{Text: text, FinishReason: &finish}},
	}
}
