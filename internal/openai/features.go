package openai

import (
	"slices"
	"strings"
)

// Features are abilities of an engine beside its operations, as a set in one
// word: names in order, separated by commas. A runner announces those of its
// engine, and a request carries those that it needs.
type Features string

// The features.
const (
	FeatureTools      Features = "tools"       // tools, and tool_choice "auto" or "none"
	FeatureToolChoice Features = "tool_choice" // tool_choice "required", or a named tool
	FeatureJSONSchema Features = "json_schema" // response_format json_schema and json_object
	FeatureLogprobs   Features = "logprobs"    // logprobs and top_logprobs of chats
	FeatureDimensions Features = "dimensions"  // dimensions of embeddings
)

// HeaderFeatures is the header in which an engine lists, in its answers, the
// features that it offers, separated by commas. dllama-api of distributed-llama
// does not send it.
const HeaderFeatures = "X-Koldun-Features"

// NewFeatures returns the set of the given names, each of which may be a set.
func NewFeatures[S ~string](names ...S) Features {
	var all []string
	for _, name := range names {
		all = append(all, parseList(string(name))...)
	}
	slices.Sort(all)
	return Features(strings.Join(slices.Compact(all), ","))
}

// Missing returns the features of need that the set lacks.
func (f Features) Missing(need Features) Features {
	if need == "" || need == f {
		return ""
	}
	have := f.Names()
	return NewFeatures(slices.DeleteFunc(need.Names(), func(name string) bool { return slices.Contains(have, name) })...)
}

// Include reports whether the set has all features of need.
func (f Features) Include(need Features) bool { return f.Missing(need) == "" }

// Names returns the members of the set, in order.
func (f Features) Names() []string { return parseList(string(f)) }
