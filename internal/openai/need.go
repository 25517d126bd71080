package openai

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A Need is a part of a request that only engines with a feature serve.
type Need struct {
	Feature Features
	Refusal *Error // for a client of a model whose engines lack the feature
}

// need records that a field needs a feature. The format is as in fail, and starts the
// refusal. It goes on to say that no engine offers all that the request needs: one
// may offer this feature and lack another.
func (f *fields) need(field string, feature Features, format, what string) {
	for outer := f; outer != nil; outer = outer.parent {
		if hasNeed(outer.needs, feature) {
			return
		}
	}
	name := f.name(field)
	f.addNeed(Need{feature, BadRequest(name, CodeUnsupported, fmt.Sprintf(format, "'"+name+"'")+
		": no engine of this model offers "+what+" together with all else that the request needs")})
}

// addNeed adds a need of another feature than those that are there: the first refusal counts.
func (f *fields) addNeed(n Need) {
	if !hasNeed(f.needs, n.Feature) {
		f.needs = append(f.needs, n)
	}
}

func hasNeed(needs []Need, feature Features) bool {
	return slices.ContainsFunc(needs, func(n Need) bool { return n.Feature == feature })
}

// parseFeatures takes the parameters that need a feature, and keeps them as they
// are: the engine reads them.
func parseFeatures(f *fields, r *ChatRequest) {
	parseTools(f, r)
	if raw := f.take("response_format"); raw != nil {
		o := f.object("response_format", raw)
		kind, _ := o.text("type")
		f.adopt(o)
		switch kind {
		case "text":
		case "json_object", "json_schema":
			r.keep(f, "response_format", raw, FeatureJSONSchema, "structured output")
		default:
			f.fail("response_format", CodeUnsupported, "%s must be of type 'text', 'json_object' or 'json_schema'")
		}
	}
	logprobs := f.m["logprobs"]
	if f.boolean("logprobs") {
		r.keep(f, "logprobs", logprobs, FeatureLogprobs, "log probabilities")
	}
	top := f.m["top_logprobs"]
	if n, _ := f.integer("top_logprobs", 0, 20); n > 0 {
		r.keep(f, "top_logprobs", top, FeatureLogprobs, "log probabilities")
	}
}

// keep passes on a parameter, which needs a feature unless that is "". The refusal
// calls the feature what.
func (r *ChatRequest) keep(f *fields, name string, raw json.RawMessage, feature Features, what string) {
	if r.Featured == nil {
		r.Featured = map[string]json.RawMessage{}
	}
	r.Featured[name] = raw
	if feature != "" {
		f.need(name, feature, "%s is not supported", what)
	}
}

// refuseNeeds fails on everything of chats that needs a feature: the answer to a
// completion has no place for it.
func refuseNeeds(f *fields) {
	if f.err == nil && len(f.needs) > 0 {
		name := f.needs[0].Refusal.Param
		f.err = BadRequest(name, CodeUnsupported, "'"+name+"' is not supported in completions: use /v1/chat/completions")
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
