package llama

import (
	"context"
	"slices"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
)

// An Embedding is a text as a vector of length 1.
type Embedding struct {
	Values []float32 // as many as the model's dimension
	Tokens int       // number of tokens of the text
}

// An Input is what an embedding is of: a text, in which nothing is a control token,
// or tokens as they are.
type Input struct {
	Text   string
	Tokens []int // only without Text
}

// Embed computes the embedding of an input. It waits for a slot and ends with ctx as
// Generate does, and has its errors.
func (e *Engine) Embed(ctx context.Context, in Input, how Pooling) (Embedding, error) {
	if how != PoolMean && how != PoolLast {
		return Embedding{}, fault.Errorf(fault.Invalid, "cannot embed: the pooling is %q, want %s or %s", how, PoolMean, PoolLast)
	}
	if e.life.Err() != nil {
		return Embedding{}, ErrClosed
	}
	tokens, err := e.inputTokens(in)
	if err != nil {
		return Embedding{}, err
	}
	j := &job{seq: &sequence{tokens: tokens, states: newPooled(how, e.model.shape.Dim)}, out: make(chan Piece, ahead)}
	if _, err := e.compute(ctx, j, func(Piece) error { return nil }); err != nil {
		return Embedding{}, err
	}
	return Embedding{Values: j.vector, Tokens: len(tokens)}, nil
}

func (e *Engine) inputTokens(in Input) ([]int, error) {
	f := e.tokenizer.File()
	if len(in.Tokens) == 0 {
		var parts []tokenizer.Part
		if f.AddBOS {
			parts = append(parts, tokenizer.Part{Text: f.Tokens[f.BOS].Text})
		}
		return e.tokens(append(parts, tokenizer.Part{Text: in.Text, Plain: true}))
	}
	if len(in.Tokens) >= e.runner.seqLen {
		return nil, fault.As(fault.Invalid, &TooLongError{Tokens: len(in.Tokens), SeqLen: e.runner.seqLen})
	}
	for _, t := range in.Tokens {
		if t < 0 || t >= len(f.Tokens) {
			return nil, fault.Errorf(fault.Invalid, "cannot embed: there is no token %d, the model has %d", t, len(f.Tokens))
		}
	}
	return slices.Clone(in.Tokens), nil
}
