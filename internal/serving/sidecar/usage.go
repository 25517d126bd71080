package sidecar

import (
	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// countUsage returns the engine's count. distributed-llama sends none in a stream:
// then each piece of text counts as one token, which is nearly exact, and the
// prompt is estimated.
func countUsage(about openai.Request, res engineapi.Result) queue.Usage {
	if u := res.Usage; u != nil {
		return queue.Usage{PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens, CachedTokens: u.Cached(), ReasoningTokens: u.Reasoned()}
	}
	return queue.Usage{PromptTokens: about.PromptTokens, CompletionTokens: res.Deltas}
}
