package llama

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/formats/tokenizer"
	"github.com/gorizond/koldun/internal/openai"
)

// Generate computes one answer and blocks until it is complete. It waits while
// the engine computes another answer. An invalid request fails without waiting.
//
// Generate calls emit from its own goroutine: first without tokens when the
// computation starts, then for each text. If emit returns an error, or ctx
// ends, Generate returns that error within the time of one token.
//
// Generate reuses the cache for the prefix that the prompt shares with the
// previous prompt and answer. This does not change the answer.
func (e *Engine) Generate(ctx context.Context, r Request, emit func(Piece) error) (Result, error) {
	if e.life.Err() != nil {
		return Result{}, ErrClosed
	}
	tokens, begun, err := e.encode(ctx, r)
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.life, func() { cancel(ErrClosed) })()
	select {
	case e.turn <- struct{}{}:
	case <-ctx.Done():
		return Result{PromptTokens: len(tokens)}, interrupted(ctx)
	}
	defer func() { <-e.turn }()

	a := &answer{e: e, request: r, prompt: tokens, emit: emit, decoder: e.tokenizer.Decoder(), stops: e.stopFilter(r.Stop)}
	err = a.compute(ctx, begun)
	if err != nil && ctx.Err() != nil {
		err = interrupted(ctx)
	}
	return a.result, err
}

func interrupted(ctx context.Context) error {
	return fmt.Errorf("cannot finish the answer: %w", context.Cause(ctx))
}

// stopFilter returns a filter for the stop sequences of a request and for the
// text of the end tokens, which a model may spell with ordinary tokens.
func (e *Engine) stopFilter(stops []string) openai.StopFilter {
	all := slices.Clone(stops)
	f := e.tokenizer.File()
	for _, id := range f.EOS {
		all = append(all, f.Tokens[id].Text)
	}
	return openai.NewStopFilter(all...)
}

// An answer is the state of one computation.
type answer struct {
	e       *Engine
	request Request
	prompt  []int
	emit    func(Piece) error
	decoder *tokenizer.Decoder
	stops   openai.StopFilter
	result  Result
}

func (a *answer) compute(ctx context.Context, begun string) error {
	began := time.Now()
	a.result.PromptTokens = len(a.prompt)
	if err := a.emit(Piece{Text: begun}); err != nil {
		return err
	}
	if err := a.read(ctx); err != nil {
		return err
	}
	first := time.Now()
	a.result.PromptTime = first.Sub(began)
	defer func() { a.result.AnswerTime = time.Since(first) }()
	return a.write(ctx)
}

// read evaluates the part of the prompt that the cache does not hold. It
// always evaluates the last token, whose scores choose the first token of the
// answer.
func (a *answer) read(ctx context.Context) error {
	e := a.e
	at := commonPrefix(e.history, a.prompt[:len(a.prompt)-1])
	a.result.CachedTokens = at
	e.history = e.history[:at]
	for at < len(a.prompt) {
		end := min(at+e.runner.batch, len(a.prompt))
		if err := e.eval(ctx, a.prompt[at:end], end == len(a.prompt)); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// eval evaluates the tokens that follow the history.
func (e *Engine) eval(ctx context.Context, tokens []int, wantScores bool) error {
	if err := e.runner.eval(ctx, tokens, len(e.history), wantScores); err != nil {
		return err
	}
	e.history = append(e.history, tokens...)
	return nil
}

func commonPrefix(a, b []int) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// write generates the answer token by token.
func (a *answer) write(ctx context.Context) error {
	e := a.e
	limit := e.runner.cache.seqLen - len(a.prompt)
	if a.request.MaxTokens > 0 {
		limit = min(limit, a.request.MaxTokens)
	}
	e.sampler.start(a.request.Sampling)
	scores := e.runner.logits[:len(e.tokenizer.File().Tokens)]
	var next [1]int
	for {
		next[0] = e.sampler.next(scores)
		if s := scores[next[0]]; s != s {
			return fault.Errorf(fault.Corrupt, "cannot choose a token: the model computes no numbers, its file may be damaged")
		}
		a.result.Tokens++
		done, err := a.say(next[0], a.result.Tokens == limit)
		if done || err != nil {
			return err
		}
		if err := e.eval(ctx, next[:], true); err != nil {
			return err
		}
	}
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
		a.result.Finish = FinishStop
	case ended:
		a.result.Finish = FinishStop
		out += a.stops.Rest()
	case last:
		a.result.Finish = FinishLength
		out += a.stops.Rest()
	}
	if out != "" {
		err = a.emit(Piece{Text: out, Tokens: a.result.Tokens})
	}
	return a.result.Finish != "", err
}
