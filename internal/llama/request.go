package llama

import (
	"fmt"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// A Request asks for one answer.
type Request struct {
	Messages []Message // the conversation so far
	Prompt   string    // text to continue; only without Messages

	MaxTokens int // of the answer; 0 means up to the end of the context
	Sampling  Sampling
	Stop      []string // the answer ends before the first of these; empty ones are ignored
}

// A Piece is the next part of an answer.
type Piece struct {
	Text   string // valid UTF-8, whole characters
	Tokens int    // that the model has answered with so far
}

// A Finish says why an answer ended.
type Finish string

// The finishes, by the words of the OpenAI API.
const (
	FinishStop   Finish = "stop"   // the model ended it, or a stop string came
	FinishLength Finish = "length" // MaxTokens or the end of the context came
)

// A Result is what an answer took. It is filled as far as the answer came,
// also with an error.
type Result struct {
	Finish       Finish
	PromptTokens int           // all of them
	CachedTokens int           // those of the prompt that were in the cache
	Tokens       int           // of the answer, the one that ended it included
	PromptTime   time.Duration // from the beginning of the turn to the first token
	AnswerTime   time.Duration // from the first token to the end
}

// A TooLongError says that a prompt leaves no room for an answer.
type TooLongError struct {
	Tokens  int  // of the prompt
	AtLeast bool // there may be more: they were not counted
	SeqLen  int  // of the context
}

func (e *TooLongError) Error() string {
	some := ""
	if e.AtLeast {
		some = "at least "
	}
	return fmt.Sprintf("the prompt has %s%d tokens, the context %d: it must leave room for an answer", some, e.Tokens, e.SeqLen)
}

// encode turns a request into tokens and the beginning of the answer that the
// template dictates. The error is Invalid or Unsupported.
func (e *Engine) encode(r Request) (tokens []int, begun string, err error) {
	text := r.Prompt
	if len(r.Messages) > 0 {
		if r.Prompt != "" {
			return nil, "", fault.Errorf(fault.Invalid, "cannot answer: there are messages and a prompt, want one of them")
		}
		if e.chatErr != nil {
			return nil, "", e.chatErr
		}
		text, begun = e.chat.prompt(r.Messages)
	}
	// A text that cannot fit need not be encoded, which would take many times
	// its memory; and for the same reason only one is at a time.
	seqLen := e.runner.cache.seqLen
	if least := (len(text) + e.longestToken - 1) / e.longestToken; least >= seqLen {
		return nil, "", fault.As(fault.Invalid, &TooLongError{Tokens: least, AtLeast: true, SeqLen: seqLen})
	}
	e.encoding.Lock()
	tokens, err = e.tokenizer.Encode(text, e.tokenizer.File().AddBOS)
	e.encoding.Unlock()
	if err != nil {
		return nil, "", err
	}
	if len(tokens) == 0 {
		return nil, "", fault.Errorf(fault.Invalid, "cannot answer: the prompt is empty")
	}
	if len(tokens) >= seqLen {
		return nil, "", fault.As(fault.Invalid, &TooLongError{Tokens: len(tokens), SeqLen: seqLen})
	}
	return tokens, begun, nil
}
