package openai

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// ParseChat reads and validates a chat completion request. It accepts every
// shape that OpenAI documents for plain text, brings content parts, stop and the
// token limits into their normal form, and refuses parameters that would change
// the meaning of the answer and that no engine supports: images about which the user asks,
// audio. What only some engines support, it keeps and lists in Needs. The error names the
// parameter; it is always an *Error with status 400.
func ParseChat(body []byte) (ChatRequest, error) {
	if err := check(body); err != nil {
		return ChatRequest{}, err
	}
	f := newFields(body)
	r := ChatRequest{Hints: map[string]json.RawMessage{}}
	parseModel(f, &r)
	parseMessages(f, &r)
	parseStream(f, &r)
	parseLimits(f, &r)
	parseChoices(f, &r)
	parseSampling(f, &r)
	parseReasoning(f, &r)
	parseFeatures(f, &r)
	if r.Featured["top_logprobs"] != nil && r.Featured["logprobs"] == nil {
		f.fail("top_logprobs", CodeInvalidValue, "%s needs 'logprobs' to be true")
	}
	refuseUnsupported(f)
	parseHints(f, &r)
	return finish(f, r)
}

// finish reads the fields that all requests have, and keeps the unknown ones.
func finish(f *fields, r ChatRequest) (ChatRequest, error) {
	r.User, _ = f.text("user")
	for _, name := range withoutEffect {
		f.take(name)
	}
	extra := f.rest()
	if f.err != nil {
		return ChatRequest{}, f.err
	}
	r.Needs = f.needs
	slices.Sort(r.LeftOut)
	r.LeftOut = slices.Compact(r.LeftOut)
	if len(r.Hints) == 0 {
		r.Hints = nil
	}
	if len(extra) > 0 {
		r.Extra = extra
	}
	return r, nil
}

// withoutEffect are parameters for OpenAI's own accounting, which do not change
// the answer.
var withoutEffect = []string{
	"metadata", "prompt_cache_key", "prompt_cache_retention",
	"safety_identifier", "service_tier", "store",
}

func parseModel(f *fields, r *ChatRequest) {
	r.Model, _ = f.text("model")
	if r.Model == "" {
		f.fail("model", CodeMissing, "%s is required: name the model that shall answer")
	}
}

func parseStream(f *fields, r *ChatRequest) {
	r.Stream = f.boolean("stream")
	raw := f.take("stream_options")
	if raw == nil {
		return
	}
	if !r.Stream {
		f.fail("stream_options", CodeInvalidValue, "%s is only allowed when 'stream' is true")
		return
	}
	o := f.object("stream_options", raw)
	r.IncludeUsage = o.boolean("include_usage")
	o.boolean("include_obfuscation")
	f.adopt(o)
}

func parseLimits(f *fields, r *ChatRequest) {
	limit, ok := f.integer("max_completion_tokens", 1, math.MaxInt32)
	old, okOld := f.integer("max_tokens", 1, math.MaxInt32)
	if ok && okOld && limit != old {
		f.fail("max_tokens", CodeInvalidValue, "%s and 'max_completion_tokens' contradict each other: set one of them")
	}
	r.MaxTokens = int(max(limit, old))
}

func parseSampling(f *fields, r *ChatRequest) {
	if t, ok := f.number("temperature", 0, 2); ok {
		r.Temperature = &t
	}
	if p, ok := f.number("top_p", 0, 1); ok {
		r.TopP = &p
	}
	if s, ok := f.integer("seed", math.MinInt64, math.MaxInt64); ok {
		r.Seed = &s
	}
	r.Stop = parseStop(f)
}

func parseStop(f *fields) []string {
	raw := f.take("stop")
	if raw == nil {
		return nil
	}
	var out []string
	if one, ok := unquote(raw); ok {
		out = append(out, one)
	} else {
		if kindOf(raw) != "an array" {
			f.wrongType("stop", "a string or an array of strings", raw)
			return nil
		}
		for i, item := range f.items("stop", raw, maxStops) {
			s, ok := unquote(item)
			if !ok {
				f.wrongType(fmt.Sprintf("stop[%d]", i), "a string", item)
				return nil
			}
			out = append(out, s)
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" }) // which stops nothing
}
