package api

import (
	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/openai"
)

// logprobs brings the choices of the tokens of one answer into the form of OpenAI.
// It leaves out tokens without text, and those of a stop sequence, which is cut
// from the text.
type logprobs struct {
	text   int // bytes of the text so far
	tokens int // bytes of the tokens so far
}

// parts returns what the piece holds beside its text, or nil.
func (l *logprobs) parts(p llama.Piece) *openai.Parts {
	if p.Tokens == 0 {
		return nil // the beginning that the template has written
	}
	l.text += len(p.Text)
	out := &openai.Logprobs{}
	for _, c := range p.Choices {
		if c.Text == "" || l.tokens >= l.text {
			continue
		}
		l.tokens += len(c.Text)
		var top []openai.TokenLogprob
		for _, a := range c.Alternatives {
			top = append(top, openai.NewTokenLogprob(a.Text, float64(a.LogProb)))
		}
		out.Add(openai.NewTokenLogprob(c.Text, float64(c.LogProb)).With(top))
	}
	if len(out.Content) == 0 {
		return nil
	}
	return &openai.Parts{Logprobs: out}
}
