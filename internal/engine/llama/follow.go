package llama

import (
	"context"
	"fmt"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/constrain"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
)

// A FormError reports that the engine cannot hold an answer to its grammar.
type FormError struct{ Err error }

func (e *FormError) Error() string {
	return fmt.Sprintf("cannot hold the answer to its form: %v", e.Err)
}

// Unwrap returns the cause.
func (e *FormError) Unwrap() error { return e.Err }

// follow returns a mask that holds one answer to a grammar, after thoughts if the
// answer begins with some. It serves until ctx ends. Its errors are Invalid.
func (e *Engine) follow(ctx context.Context, g *constrain.Grammar, thoughts bool) (Mask, error) {
	if thoughts {
		var err error
		e.encoding.Lock() // a grammar is many times the memory of its request
		g, err = g.AfterThoughts()
		e.encoding.Unlock()
		if err != nil {
			return nil, fault.As(fault.Invalid, &FormError{err})
		}
	}
	m := constrain.NewMatcher(ctx, g, e.vocabulary())
	known := 0 // tokens that the matcher has
	return func(answer []int) (TokenSet, error) {
		for ; known < len(answer); known++ {
			if err := m.Advance(answer[known]); err != nil {
				return nil, fault.As(fault.Invalid, &FormError{err})
			}
		}
		set, err := m.Mask()
		if err != nil {
			return nil, fault.As(fault.Invalid, &FormError{err})
		}
		return TokenSet(set), nil
	}, nil
}

// newVocabulary returns the tokens as an answer shows them.
func newVocabulary(t *tokenizer.Tokenizer) *constrain.Vocabulary {
	f := t.File()
	tokens := make([]constrain.Token, len(f.Tokens))
	for id, tok := range f.Tokens {
		tokens[id] = constrain.Token{Text: tok.Text}
		switch {
		case t.IsEOS(id):
			tokens[id].Kind = constrain.End
		case id == f.BOS:
			tokens[id].Kind = constrain.Unused
		case t.IsControl(id):
			tokens[id].Kind = constrain.Control
		}
	}
	return constrain.NewVocabulary(tokens)
}
