package engineapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
)

// A Chat is one generation.
type Chat struct {
	Messages    []openai.Message // at least one
	MaxTokens   int              // 0: until the end of the context
	Temperature *float64         // nil: the engine's default
	TopP        *float64
	Seed        *int64 // nil: the generator goes on where it is
	// Stop is a hint: upstream takes it and does nothing, so callers look for
	// the sequences themselves.
	Stop []string
	// Pace is how often text is told of an engine that generates faster, 0 for
	// as it comes. The first pieces always are.
	Pace     time.Duration
	Timeouts Timeouts
}

// Timeouts bound the phases of a generation; 0 means no bound, except Connect
// which is then 5 s. The whole is bounded by the context.
type Timeouts struct {
	Connect time.Duration
	First   time.Duration // from the request to its first text: the prompt is read then
	Between time.Duration // from one text to the next
}

// A Delta is a piece of generated text.
type Delta struct {
	Text   string
	Pieces int // in which the engine gave it, about as many as tokens: what came at once is told at once
}

// A Result is how a generation ended.
type Result struct {
	FinishReason string // openai.FinishStop or openai.FinishLength
	Deltas       int    // pieces of text received: about as many as tokens
	// Honours names the hints that the engine honours (openai.HintSeed, ...): what
	// it says, or what is known of upstream. nil: it has not answered.
	Honours []string
	// Usage is what the engine says it used, nil if it does not say (upstream
	// never says so in a stream).
	Usage *openai.Usage
}

// wireRequest holds the fields that upstream reads, in types that it accepts:
// a null or a list where it expects a string aborts it.
type wireRequest struct {
	Messages    []wireMessage `json:"messages"`
	Stream      bool          `json:"stream"`
	MaxTokens   int           `json:"max_tokens,omitempty"`
	Seed        *uint64       `json:"seed,omitempty"`
	Temperature *float64      `json:"temperature,omitempty"`
	TopP        *float64      `json:"top_p,omitempty"`
	Stop        []string      `json:"stop,omitempty"`
}

type wireMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Chat generates, and calls onText with each piece of text as it comes. It
// waits for its turn, blocks until the end, and returns what it has with an
// error that says why it ended early: ctx's cause (the connection is closed at
// once, which makes the engine stop at its next token), onText's error,
// ErrLoading, ErrTimeout, *openai.Error if the engine refused the request, or a
// Transient error if the engine broke off.
func (c *Client) Chat(ctx context.Context, chat Chat, onText func(Delta) error) (Result, error) {
	body, err := encode(chat)
	if err != nil {
		return Result{}, err
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
	conn, err := c.dial(ctx, chat.Timeouts.Connect)
	if err != nil {
		return Result{}, err
	}
	x := exchange{addr: c.addr, conn: conn, head: c.head, body: c.body, chat: chat, onText: onText, breath: breath{pace: chat.Pace}}
	result, err := x.run(ctx, body)
	if err == nil {
		c.end(conn)
	}
	return result, err
}

func encode(chat Chat) ([]byte, error) {
	if len(chat.Messages) == 0 {
		// Upstream takes an empty chat and generates until the context is full.
		return nil, fault.Errorf(fault.Invalid, "cannot ask the engine: there are no messages")
	}
	w := wireRequest{Stream: true, MaxTokens: max(chat.MaxTokens, 0), Temperature: chat.Temperature, TopP: chat.TopP, Stop: chat.Stop}
	for _, m := range chat.Messages {
		w.Messages = append(w.Messages, wireMessage{Role: string(m.Role), Content: m.Content})
	}
	if chat.Seed != nil {
		w.Seed = seed(*chat.Seed)
	}
	body, err := json.Marshal(w)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot ask the engine: %w", err)
	}
	return body, nil
}

// seed turns any seed into one the engine can use: its generator is an
// xorshift, which 0 would freeze.
func seed(s int64) *uint64 {
	u := uint64(s) & (1<<63 - 1)
	if u == 0 {
		u = 0x9e3779b97f4a7c15 & (1<<63 - 1) // any constant will do
	}
	return &u
}
