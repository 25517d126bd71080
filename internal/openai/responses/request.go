package responses

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// A Request is the body of POST /v1/responses, or of /v1/responses/compact.
type Request struct {
	Model        string
	Stream       bool
	Store        bool   // for a later request with its id
	PreviousID   string // previous_response_id, or ""
	Instructions *string
	Input        []Item // without what PreviousID stands for

	tools []Tool
	shown []json.RawMessage // the tools as the response repeats them
	// inChats are the names that the model sees of tools, and byName whose they are.
	inChats map[functionName]string
	byName  map[string]functionName

	choice choice
	text   Text
	// logprobs are wanted in the answer.
	logprobs    bool
	topLogprobs int
	parallel    bool
	maxTokens   *int
	maxCalls    *int
	sampling    sampling
	reasoning   *Reasoning
	metadata    map[string]string
	safetyID    *string
	cacheKey    *string
	truncate    bool     // truncation auto, which has no effect
	leftOut     []string // kinds of tools, items and parts without which the request is answered
	extra       map[string]json.RawMessage
}

// sampling holds what the response object repeats as numbers.
type sampling struct {
	temperature, topP, presence, frequency *float64
}

const (
	minOutputTokens = 16
	maxItems        = 4096
	maxHistory      = 4 * maxItems // with those of earlier responses
	maxParts        = 4096         // of one item
	maxInclude      = 64
	maxLeftOut      = 64
	maxIdentifier   = 64 // characters of safety_identifier and prompt_cache_key
)

// Parse reads and validates the body of POST /v1/responses. Its errors are *openai.Error
// and name the parameter.
func Parse(body []byte) (*Request, error) {
	o, err := openai.ParseObject(body)
	if err != nil {
		return nil, err
	}
	r := &Request{}
	r.parseCommon(o)
	r.Stream = o.Boolean("stream", false)
	r.Store = o.Boolean("store", true)
	o.Take("stream_options")
	o.Take("service_tier")
	refuseUnsupported(o)
	r.parseInclude(o)
	r.parseTools(o)
	r.parseText(o)
	r.parseReasoning(o)
	r.parseLimits(o)
	r.parseSampling(o)
	r.parseMetadata(o)
	r.extra = o.Rest()
	if o.Err() != nil {
		return nil, o.Err()
	}
	for _, name := range ownInChats {
		delete(r.extra, name)
	}
	return r, nil
}

// leaveOut notes that a part of the request has no effect, by its kind. A header names
// them, which has no place for more than a few.
func (r *Request) leaveOut(kind string) {
	if len(r.leftOut) < maxLeftOut && !slices.Contains(r.leftOut, kind) {
		r.leftOut = append(r.leftOut, kind)
	}
}

// ownInChats are parameters of chats that a request for a response expresses in
// another way: one of that name must not take their place.
var ownInChats = []string{"messages", "logprobs", "response_format", "max_tokens", "max_completion_tokens", "n", "functions", "function_call", "reasoning_effort", "verbosity"}

// parseCommon reads what compact has, too.
func (r *Request) parseCommon(o openai.Object) {
	if r.Model, _ = o.Text("model"); r.Model == "" {
		o.Fail("model", openai.CodeMissing, "%s is required: name the model that shall answer")
	}
	r.PreviousID, _ = o.Text("previous_response_id")
	if text, ok := o.Text("instructions"); ok {
		r.Instructions = &text
	}
	r.cacheKey = identifier(o, "prompt_cache_key")
	r.Input = r.parseInput(o)
	if len(r.Input) == 0 && r.PreviousID == "" && r.Instructions == nil {
		o.Fail("input", openai.CodeMissing, "%s is required: a string or an array of items")
	}
}

func identifier(o openai.Object, field string) *string {
	text, ok := o.Text(field)
	if !ok {
		return nil
	}
	if len([]rune(text)) > maxIdentifier {
		o.Fail(field, openai.CodeInvalidValue, fmt.Sprintf("%%s must not be longer than %d characters", maxIdentifier))
	}
	return &text
}

// refuseUnsupported fails on parameters that would change the meaning of the answer.
func refuseUnsupported(o openai.Object) {
	if o.Boolean("background", false) {
		o.Fail("background", openai.CodeUnsupportedValue, "%s must be false: responses in the background are not supported here")
	}
	for _, field := range []string{"conversation", "prompt"} {
		if o.Has(field) {
			o.Fail(field, openai.CodeUnsupported, "%s is not supported here: send the items as 'input'")
		}
	}
}

// parseInclude skips what OpenAI offers beside the specification: it adds to the
// output of hosted tools, and there are none.
func (r *Request) parseInclude(o openai.Object) {
	for i, raw := range o.Items("include", o.Array("include"), maxInclude) {
		name, ok := openai.Unquote(raw)
		if !ok {
			o.Fail(fmt.Sprintf("include[%d]", i), openai.CodeInvalidType, "%s must be a string")
			return
		}
		r.logprobs = r.logprobs || name == "message.output_text.logprobs"
	}
}

func (r *Request) parseLimits(o openai.Object) {
	if n, ok := o.Integer("max_output_tokens", minOutputTokens, math.MaxInt32); ok {
		r.maxTokens = new(int(n))
	}
	if n, ok := o.Integer("max_tool_calls", 1, math.MaxInt32); ok {
		r.maxCalls = new(int(n))
	}
	n, _ := o.Integer("top_logprobs", 0, 20)
	r.topLogprobs = int(n)
	r.parallel = o.Boolean("parallel_tool_calls", true)
	r.truncate = word(o, "truncation", "disabled", "auto") == "auto"
}

func (r *Request) parseSampling(o openai.Object) {
	for field, to := range map[string]struct {
		lo, hi float64
		value  **float64
	}{
		"temperature": {0, 2, &r.sampling.temperature}, "top_p": {0, 1, &r.sampling.topP},
		"presence_penalty": {-2, 2, &r.sampling.presence}, "frequency_penalty": {-2, 2, &r.sampling.frequency},
	} {
		if x, ok := o.Number(field, to.lo, to.hi); ok {
			*to.value = &x
		}
	}
}

// The bounds of metadata.
const (
	maxMetadata      = 16
	maxMetadataKey   = 64
	maxMetadataValue = 512
)

func (r *Request) parseMetadata(o openai.Object) {
	r.safetyID = identifier(o, "safety_identifier")
	r.metadata = map[string]string{}
	raw := o.Take("metadata")
	if raw == nil {
		return
	}
	m := o.Inner("metadata", raw)
	for name := range m.Rest() {
		value, ok := m.Text(name)
		if !ok || len(name) > maxMetadataKey || len(value) > maxMetadataValue {
			m.Fail(name, openai.CodeInvalidValue, fmt.Sprintf("%%s must be a string of up to %d bytes under a key of up to %d", maxMetadataValue, maxMetadataKey))
		}
		r.metadata[name] = value
	}
	o.Adopt(m)
	if len(r.metadata) > maxMetadata {
		o.Fail("metadata", openai.CodeInvalidValue, fmt.Sprintf("%%s must not hold more than %d pairs", maxMetadata))
	}
}

// word reads one of a few words; the first is the default.
func word(o openai.Object, field string, words ...string) string {
	text, ok := o.Text(field)
	if !ok {
		return words[0]
	}
	for _, w := range words {
		if w == text {
			return text
		}
	}
	o.Fail(field, openai.CodeInvalidValue, "%s must be one of '"+strings.Join(words, "', '")+"'")
	return words[0]
}
