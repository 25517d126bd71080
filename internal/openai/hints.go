package openai

import (
	"slices"
	"strings"
)

// HeaderHonours is the header in which an engine lists, in its answers, the
// hints that it honours, separated by commas. dllama-api of distributed-llama
// does not send it.
const HeaderHonours = "X-Koldun-Honours"

// HeaderTenant is the header in which a request names whom it is for, without telling the
// name: engines share their work on requests among them. Other engines than the embedded one
// ignore it.
const HeaderTenant = "X-Koldun-Tenant"

// The hints that some engines honour and others do not.
const (
	HintTemperature      = "temperature"
	HintTopP             = "top_p"
	HintSeed             = "seed"
	HintFrequencyPenalty = "frequency_penalty"
	HintPresencePenalty  = "presence_penalty"
	HintLogitBias        = "logit_bias"
)

// ParseHonours reads the value of HeaderHonours.
func ParseHonours(header string) []string { return parseList(header) }

// parseList reads words that are separated by commas.
func parseList(header string) []string {
	var out []string
	for word := range strings.SplitSeq(header, ",") {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, word)
		}
	}
	return out
}

func (s Sampling) unhonoured(honoured []string) []string {
	var out []string
	for _, hint := range []struct {
		name string
		set  bool
	}{
		{HintSeed, s.Seed != nil},
		{HintTemperature, s.Temperature != nil},
		{HintTopP, s.TopP != nil},
	} {
		if hint.set && !slices.Contains(honoured, hint.name) {
			out = append(out, hint.name)
		}
	}
	return out
}
