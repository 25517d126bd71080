package llama

import (
	"context"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/formats/tokenizer"
)

// An Embedding is a text as a vector of length 1.
type Embedding struct {
	Values []float32 // as many as the model's dimension
	Tokens int       // number of tokens of the text
}

// Embed computes the embedding of a text, in which nothing is a control token. It
// waits for a slot and ends with ctx as Generate does, and has its errors.
func (e *Engine) Embed(ctx context.Context, text string, how Pooling) (Embedding, error) {
	if how != PoolMean && how != PoolLast {
		return Embedding{}, fault.Errorf(fault.Invalid, "cannot embed: the pooling is %q, want %s or %s", how, PoolMean, PoolLast)
	}
	if e.life.Err() != nil {
		return Embedding{}, ErrClosed
	}
	var parts []tokenizer.Part
	if f := e.tokenizer.File(); f.AddBOS {
		parts = append(parts, tokenizer.Part{Text: f.Tokens[f.BOS].Text})
	}
	tokens, err := e.tokens(append(parts, tokenizer.Part{Text: text, Plain: true}))
	if err != nil {
		return Embedding{}, err
	}
	j := &job{seq: &sequence{tokens: tokens, states: newPooled(how, e.model.shape.Dim)}, out: make(chan Piece, ahead)}
	if _, err := e.compute(ctx, j, func(Piece) error { return nil }); err != nil {
		return Embedding{}, err
	}
	return Embedding{Values: j.vector, Tokens: len(tokens)}, nil
}
