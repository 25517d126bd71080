package llama

import (
	"context"
	"fmt"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/constrain"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
	"github.com/gorizond/koldun/internal/model/toolcall"
)

// A Request asks for one answer.
type Request struct {
	Messages []Message       // the conversation so far
	Tools    []toolcall.Tool // that the model may call; only with Messages
	Prompt   string          // text to continue; only without Messages

	MaxTokens int // limit of the answer; 0 means the rest of the context
	Sampling  Sampling
	Stop      []string // the answer ends before the first of these; empty strings are ignored

	// Grammar is the form of the answer, but for thoughts that the template begins;
	// nil allows all. An answer that ends with FinishStop has this form.
	Grammar *constrain.Grammar

	Mask         Mask // limits the next token, for answers of a given form; nil allows all
	LogProbs     bool // pieces have the choices of their tokens
	Alternatives int  // number of alternatives of each choice, up to MaxAlternatives; only with LogProbs
}

// validate reports the first invalid field. The error is Invalid.
func (r Request) validate() error {
	if r.Grammar != nil && (r.Mask != nil || len(r.Stop) > 0) {
		return fault.Errorf(fault.Invalid, "cannot answer in a given form with a mask or stop sequences: they would break the form")
	}
	if r.Alternatives < 0 || r.Alternatives > MaxAlternatives {
		return fault.Errorf(fault.Invalid, "cannot answer: the number of alternatives is %d, want 0 to %d", r.Alternatives, MaxAlternatives)
	}
	if r.Alternatives > 0 && !r.LogProbs {
		return fault.Errorf(fault.Invalid, "cannot answer: alternatives come with log probabilities: ask for both")
	}
	return nil
}

// A Piece is the next part of an answer.
type Piece struct {
	Text   string // valid UTF-8, whole characters
	Tokens int    // number of tokens generated so far
	// Choices are those of the tokens since the previous piece, if the request
	// wants them. A stop string may cut their text.
	Choices []Choice
}

// A Finish is the reason why an answer ended.
type Finish string

// The reasons, as in finish_reason of the OpenAI API.
const (
	FinishStop   Finish = "stop"   // the model generated an end token or a stop string
	FinishLength Finish = "length" // the answer reached MaxTokens or the end of the context
)

// A Result holds the statistics of an answer. With an error it describes the
// part that was computed.
type Result struct {
	Finish       Finish
	Stop         string        // stop sequence of the request that ended the answer, or ""
	PromptTokens int           // number of tokens of the prompt
	CachedTokens int           // number of prompt tokens that the cache held
	Tokens       int           // number of tokens of the answer, with the end token
	PromptTime   time.Duration // from the start of the computation to the first token
	AnswerTime   time.Duration // from the first token to the end
}

// A TooLongError reports that a prompt leaves no room for an answer.
type TooLongError struct {
	Tokens  int  // number of tokens of the prompt
	AtLeast bool // Tokens is a lower bound: the prompt was not encoded
	SeqLen  int  // size of the context in tokens
}

// Error says it in the words of OpenAI ("maximum context length is") and of Anthropic
// ("prompt is too long"), whose error has no code: agents look for them, and shorten the
// conversation.
func (e *TooLongError) Error() string {
	some := ""
	if e.AtLeast {
		some = "at least "
	}
	return fmt.Sprintf("This model's maximum context length is %d tokens. The prompt is too long: it has %s%d tokens and must leave room for an answer.", e.SeqLen, some, e.Tokens)
}

// encode returns the tokens of a request and the text with which the template
// makes the answer begin. The error is Invalid, Unsupported or, if ctx ends,
// Interrupted.
func (e *Engine) encode(ctx context.Context, r Request) (tokens []int, begun string, err error) {
	parts, begun, err := e.parts(ctx, r)
	if err != nil {
		return nil, "", err
	}
	tokens, err = e.tokens(parts)
	return tokens, begun, err
}

// tokens encodes a text that leaves room for an answer. Encoding takes many times
// the memory of the text: tokens refuses a text that cannot fit without encoding
// it, and encodes one text at a time.
func (e *Engine) tokens(parts []tokenizer.Part) ([]int, error) {
	size := 0
	for _, p := range parts {
		size += len(p.Text)
	}
	seqLen := e.runner.seqLen
	if least := (size + e.longestToken - 1) / e.longestToken; least >= seqLen {
		return nil, fault.As(fault.Invalid, &TooLongError{Tokens: least, AtLeast: true, SeqLen: seqLen})
	}
	e.encoding.Lock()
	tokens, err := e.tokenizer.EncodeParts(parts)
	e.encoding.Unlock()
	if err != nil {
		return nil, err
	}
	if len(tokens) == 0 {
		return nil, fault.Errorf(fault.Invalid, "cannot answer: the prompt is empty")
	}
	if len(tokens) >= seqLen {
		return nil, fault.As(fault.Invalid, &TooLongError{Tokens: len(tokens), SeqLen: seqLen})
	}
	return tokens, nil
}

// parts returns the text of a request. A prompt of the client is text to
// continue, and may hold special tokens.
func (e *Engine) parts(ctx context.Context, r Request) (parts []tokenizer.Part, begun string, err error) {
	if len(r.Messages) == 0 {
		if e.tokenizer.File().AddBOS {
			parts = append(parts, tokenizer.Part{BOS: true})
		}
		return append(parts, tokenizer.Part{Text: r.Prompt}), "", nil
	}
	if r.Prompt != "" {
		return nil, "", fault.Errorf(fault.Invalid, "cannot answer: there are messages and a prompt, want one of them")
	}
	if e.chatErr != nil {
		return nil, "", e.chatErr
	}
	return e.chat.prompt(ctx, r.Messages, r.Tools)
}
