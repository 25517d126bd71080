package openai

import (
	"slices"
	"strings"
)

// HeaderHonours is how an engine names, in its answers, the hints that it
// honours, separated by commas. dllama-api of distributed-llama does not send it.
const HeaderHonours = "X-Koldun-Honours"

// The hints that some engines honour and others do not.
const (
	HintTemperature = "temperature"
	HintTopP        = "top_p"
	HintSeed        = "seed"
)

// ParseHonours reads the value of HeaderHonours.
func ParseHonours(header string) []string {
	var out []string
	for name := range strings.SplitSeq(header, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// Unhonoured names the hints of the request that an engine ignores which
// honours only those given, sorted.
func (r ChatRequest) Unhonoured(honoured []string) []string {
	var out []string
	for _, hint := range []struct {
		name  string
		asked bool
	}{
		{HintSeed, r.Seed != nil},
		{HintTemperature, r.Temperature != nil},
		{HintTopP, r.TopP != nil},
	} {
		if hint.asked && !slices.Contains(honoured, hint.name) {
			out = append(out, hint.name)
		}
	}
	return out
}
