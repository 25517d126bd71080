package openai

import (
	"encoding/json"
	"fmt"
)

// A Need is a part of a request that only engines with a feature serve.
type Need struct {
	Feature Features
	Refusal *Error // for a client of a model whose engines lack the feature
}

// need records that a field needs a feature. Format is as in fail, and for the
// refusal.
func (f *fields) need(field string, feature Features, format string) {
	name := f.name(field)
	f.needs = append(f.needs, Need{feature, BadRequest(name, CodeUnsupported, fmt.Sprintf(format, "'"+name+"'"))})
}

// parseFeatures takes the parameters that need a feature, and keeps them as they
// are: the engine reads them.
func parseFeatures(f *fields, r *ChatRequest) {
	parseTools(f, r)
	if raw := f.take("response_format"); raw != nil {
		o := newFields("response_format", raw)
		kind, _ := o.text("type")
		f.adopt(o)
		switch kind {
		case "text":
		case "json_object", "json_schema":
			r.keep(f, "response_format", raw, FeatureJSONSchema, "%s is not supported here: answers are plain text")
		default:
			f.fail("response_format", CodeUnsupported, "%s is not supported here: answers are plain text")
		}
	}
	logprobs := f.m["logprobs"]
	if f.boolean("logprobs") {
		r.keep(f, "logprobs", logprobs, FeatureLogprobs, "%s is not supported here")
	}
	top := f.m["top_logprobs"]
	if n, _ := f.integer("top_logprobs", 0, 20); n > 0 {
		r.keep(f, "top_logprobs", top, FeatureLogprobs, "%s is not supported here")
	}
}

// keep passes on a parameter, which needs a feature unless that is "".
func (r *ChatRequest) keep(f *fields, name string, raw json.RawMessage, feature Features, format string) {
	if r.Featured == nil {
		r.Featured = map[string]json.RawMessage{}
	}
	r.Featured[name] = raw
	if feature != "" {
		f.need(name, feature, format)
	}
}

// parseTools passes on tool_choice and parallel_tool_calls only beside tools, as
// they mean nothing without.
//
// A server that leaves the choice to the model has to recognise calls in its text,
// and one that is told of it need not: either may be all that a server can do.
func parseTools(f *fields, r *ChatRequest) {
	const refused = "%s is not supported here: the models served do not call tools"
	tools, choice := f.take("tools"), f.take("tool_choice")
	told := choice != nil && !isWord(choice, "none", "auto")
	feature := FeatureTools
	if told {
		feature = FeatureToolChoice
	}
	given := tools != nil && !isEmpty(tools)
	if given {
		if kindOf(tools) != "an array" {
			f.wrongType("tools", "an array of objects", tools)
			return
		}
		for i, tool := range splitArray(tools) {
			f.adopt(newFields(fmt.Sprintf("tools[%d]", i), tool))
		}
		r.keep(f, "tools", tools, feature, refused)
	}
	switch {
	case choice == nil:
	case told:
		r.keep(f, "tool_choice", choice, FeatureToolChoice, refused)
	case given:
		r.keep(f, "tool_choice", choice, "", "")
	}
	parallel := f.m["parallel_tool_calls"]
	f.boolean("parallel_tool_calls")
	if given && parallel != nil && kindOf(parallel) != "null" {
		r.keep(f, "parallel_tool_calls", parallel, "", "")
	}
}

// refuseNeeds fails on everything that needs a feature: the operation's answers
// have no place for it.
func refuseNeeds(f *fields) {
	if f.err == nil && len(f.needs) > 0 {
		f.err = f.needs[0].Refusal
	}
}

// features returns what a request needs.
func features(needs []Need) Features {
	if len(needs) == 0 {
		return ""
	}
	all := make([]Features, 0, len(needs))
	for _, n := range needs {
		all = append(all, n.Feature)
	}
	return NewFeatures(all...)
}

// Refusal returns why engines that offer the given features cannot serve the
// request, or nil.
func (r Request) Refusal(offered Features) *Error {
	for _, n := range r.needs {
		if !offered.Include(n.Feature) {
			return n.Refusal
		}
	}
	return nil
}
