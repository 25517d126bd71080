package llama

import (
	"slices"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
	"github.com/gorizond/koldun/internal/openai"
)

// An answer chooses tokens and makes text of them. It is not safe for concurrent
// use.
type answer struct {
	e       *Engine
	request Request
	limit   int // tokens
	sampler sampler
	tokens  []int // so far
	choices []Choice
	decoder *tokenizer.Decoder
	stops   openai.StopFilter
	emit    func(Piece) error
	finish  Finish
	stop    string // sequence of the request that ended the answer
}

func (e *Engine) newAnswer(r Request, j *job) *answer {
	a := &answer{
		e: e, request: r, limit: e.runner.seqLen - len(j.seq.tokens), decoder: e.tokenizer.Decoder(), stops: e.stopFilter(r),
		emit: func(p Piece) error {
			j.out <- p
			return nil
		},
	}
	if r.MaxTokens > 0 {
		a.limit = min(a.limit, r.MaxTokens)
	}
	a.sampler.start(r.Sampling)
	return a
}

// choose returns the next token by the scores of the model, which it changes. It
// runs at the same time as that of other answers.
func (a *answer) choose(scores []float32) (int, error) {
	scores = scores[:len(a.e.tokenizer.File().Tokens)]
	var choice Choice
	var norm float64
	if a.request.LogProbs {
		norm = logSum(scores)
		choice.Alternatives = alternatives(scores, norm, a.request.Alternatives)
	}
	plain := scores
	if a.request.Mask != nil {
		allowed, err := a.request.Mask(a.tokens)
		if err == nil {
			err = allowed.apply(scores)
		}
		if err != nil {
			return 0, err
		}
	}
	if a.request.LogProbs {
		plain = append([]float32(nil), scores...)
	}
	token := a.sampler.next(scores)
	if s := scores[token]; s != s {
		return 0, fault.Errorf(fault.Corrupt, "cannot choose a token: the model computes no numbers, its file may be damaged")
	}
	if a.request.LogProbs {
		choice.Token, choice.LogProb = token, float32(float64(plain[token])-norm)
		a.name(&choice)
		a.choices = append(a.choices, choice)
	}
	return token, nil
}

// name sets the texts of a choice and its alternatives.
func (a *answer) name(c *Choice) {
	f := a.e.tokenizer.File()
	if c.Token != f.BOS && !a.e.tokenizer.IsEOS(c.Token) {
		c.Text = f.Tokens[c.Token].Text
	}
	for i := range c.Alternatives {
		c.Alternatives[i].Text = f.Tokens[c.Alternatives[i].Token].Text
	}
}

// add takes the next token and emits the text that it completes. It reports
// whether the answer ends with this token.
func (a *answer) add(token int) (done bool, err error) {
	a.tokens = append(a.tokens, token)
	return a.say(token, len(a.tokens) == a.limit)
}

// say emits the text that a token completes, and reports whether the answer
// ends with this token.
func (a *answer) say(token int, last bool) (done bool, err error) {
	ended := a.e.tokenizer.IsEOS(token)
	text := a.decoder.Next(token)
	if ended || last {
		text += a.decoder.Flush()
	}
	out, stopped := a.stops.Push(text)
	switch {
	case stopped:
		a.finish = FinishStop
		if m := a.stops.Matched(); slices.Contains(a.request.Stop, m) {
			a.stop = m
		}
	case ended:
		a.finish = FinishStop
		out += a.stops.Rest()
	case last:
		a.finish = FinishLength
		out += a.stops.Rest()
	}
	done = a.finish != ""
	if out != "" || done && len(a.choices) > 0 {
		err = a.emit(Piece{Text: out, Tokens: len(a.tokens), Choices: a.choices})
		a.choices = nil
	}
	return done, err
}
