package sidecar

import (
	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/engineapi"
	"github.com/gorizond/koldun/internal/openai"
)

// countUsage takes the engine's own count. Upstream gives none in a stream:
// then each piece of text counts as one token, which is nearly true, and the
// prompt is estimated at a token per four bytes plus four for each turn's
// frame, which is the usual rule of thumb for byte-pair vocabularies.
func countUsage(chat openai.ChatRequest, res engineapi.Result) bus.Usage {
	if u := res.Usage; u != nil {
		return bus.Usage{PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens}
	}
	prompt := 0
	for _, m := range chat.Messages {
		prompt += (len(m.Content)+3)/4 + 4
	}
	return bus.Usage{PromptTokens: prompt, CompletionTokens: res.Deltas}
}
