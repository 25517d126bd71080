package llama

import (
	"context"
	"fmt"
	"slices"

	"github.com/gorizond/koldun/internal/openai"
)

// Generate computes one answer and blocks until it is complete. It waits while
// the engine computes as many others as it has slots. An invalid request fails
// without waiting.
//
// Generate calls emit from its own goroutine: first without tokens when the
// computation starts, then for each text. The engine computes ahead of emit, but
// only some pieces. If emit returns an error, or ctx ends, Generate returns that
// error within the time of one batch.
//
// Generate reuses keys and values of the prefix that the prompt shares with
// another request. Neither this nor other requests change the answer.
func (e *Engine) Generate(ctx context.Context, r Request, emit func(Piece) error) (Result, error) {
	if e.life.Err() != nil {
		return Result{}, ErrClosed
	}
	if err := r.validate(); err != nil {
		return Result{}, err
	}
	tokens, begun, err := e.encode(ctx, r)
	if err != nil {
		return Result{}, err
	}
	if r.Grammar != nil {
		if r.Mask, err = e.follow(ctx, r.Grammar, begun != ""); err != nil {
			return Result{}, err
		}
	}
	j := &job{seq: &sequence{tokens: tokens}, out: make(chan Piece, ahead)}
	j.result.PromptTokens = len(tokens)
	j.answer = e.newAnswer(r, j)
	j.begun = begun
	return e.compute(ctx, j, emit)
}

// compute has the scheduler compute a job, once it has a slot, and passes on its
// pieces.
func (e *Engine) compute(ctx context.Context, j *job, emit func(Piece) error) (Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.life, func() { cancel(ErrClosed) })()
	select {
	case e.slots <- struct{}{}:
	case <-ctx.Done():
		return j.result, interrupted(ctx)
	}
	defer func() { <-e.slots }()

	j.ctx = ctx
	defer context.AfterFunc(ctx, e.scheduler.poke)() // the job may wait
	e.scheduler.arriving <- j                        // as large as there are slots
	var refused error
	for p := range j.out {
		e.scheduler.poke() // the job may wait for its reader
		if refused != nil {
			continue
		}
		if refused = emit(p); refused != nil {
			cancel(refused)
		}
	}
	switch {
	case refused != nil:
		return j.result, refused
	case j.err != nil && ctx.Err() != nil:
		return j.result, interrupted(ctx)
	}
	return j.result, j.err
}

func interrupted(ctx context.Context) error {
	return fmt.Errorf("cannot finish the answer: %w", context.Cause(ctx))
}

// stopFilter returns a filter for the stop sequences of a request and for the
// text of the end tokens, which a model may spell with ordinary tokens. An answer
// of a given form ends with the form: there, such a text is a part of a string.
func (e *Engine) stopFilter(r Request) openai.StopFilter {
	if r.Grammar != nil {
		return openai.NewStopFilter()
	}
	all := slices.Clone(r.Stop)
	f := e.tokenizer.File()
	for _, id := range f.EOS {
		all = append(all, f.Tokens[id].Text)
	}
	return openai.NewStopFilter(all...)
}
