package engineapi

import (
	"context"
	"io"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/openai"
)

// A Request is what one operation asks of an engine, such as a Chat.
type Request interface {
	call() (call, error)              // of a Client
	ask(s *Server) (serverAsk, error) // of a Server
}

// A call is a Request in the form of HTTP.
type call struct {
	path        string
	body        []byte
	maxTokens   int              // of the answer, in case the engine does not say why it ended; 0: no limit
	contentType string           // of the answer
	parser      *toolcall.Parser // finds calls of tools in the text; nil: the engine does
	// read passes the text of the answer to exchange.add, and sets the result.
	read func(*exchange, io.Reader) error
}

// operations are all that engines can be asked. A function decodes the body of
// a queued request, in the normal form of its operation.
var operations = map[openai.Operation]func(openai.Operation, []byte) (Request, openai.Request, error){
	openai.OperationChat:       decodeChat,
	openai.OperationCompletion: decodeChat,
	openai.OperationEmbedding:  decodeEmbedding,
}

// Decode decodes the body of a queued request. It returns what to ask of the
// engine, and what the caller needs to know of the request. Errors:
// *openai.Error, or Invalid for an operation that is not known.
func Decode(op openai.Operation, body []byte) (Request, openai.Request, error) {
	decode, known := operations[op.OrChat()]
	if !known {
		return nil, openai.Request{}, fault.Errorf(fault.Invalid, "cannot ask the engine for operation %q: it is not known", op)
	}
	return decode(op.OrChat(), body)
}

// Options adjust one request.
type Options struct {
	// Pace is how often onText is called if the engine generates faster; 0 is
	// for each text as it comes. The first texts come without delay.
	Pace     time.Duration
	Timeouts Timeouts
	Tenant   string // for which an engine of ours does the work; a server does not get to know
}

// Timeouts bound the phases of a generation; 0 means no bound, except Connect
// which is then 5 s. The context bounds the whole.
type Timeouts struct {
	Connect time.Duration
	First   time.Duration // from the request to its first text: the engine reads the prompt then
	Between time.Duration // from one text to the next
}

// A Delta is a piece of an answer.
type Delta struct {
	Text   string
	Parts  *openai.Parts // what comes with the text; nil: nothing
	Pieces int           // in which the engine sent it, about as many as tokens
}

// A Result says how a generation ended.
type Result struct {
	FinishReason string // openai.FinishStop, openai.FinishLength, or another of a server
	// StopSequence is the text that ended the answer, if the engine says so.
	StopSequence string
	Deltas       int // pieces of text received: about as many as tokens
	// Honours names the parameters that the engine honours (openai.HintSeed, ...):
	// those that it lists, or what is known of upstream. nil: it has not answered.
	Honours []string
	// Operations are those that the engine lists; nil: it lists none.
	Operations []openai.Operation
	// Features are those that the engine offers.
	Features openai.Features
	// Usage is what the engine reports, or nil if it does not (upstream never
	// does in a stream).
	Usage *openai.Usage
}

// Do asks the engine, and calls onText with each piece of text as it comes. It
// waits until the request before has ended, blocks until the end of the answer,
// and returns what it has with an error that says why it ended early: ctx's
// cause (Do closes the connection at once, which makes the engine stop at its
// next token), onText's error, ErrLoading, ErrTimeout, *openai.Error if the
// engine refused the request, or a Transient error if the engine broke off.
func (c *Client) Do(ctx context.Context, r Request, o Options, onText func(Delta) error) (Result, error) {
	call, err := c.call(ctx, r)
	if err != nil {
		return Result{}, err
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
	conn, err := c.dial(ctx, o.Timeouts.Connect)
	if err != nil {
		return Result{}, err
	}
	x := exchange{
		addr: c.addr, conn: conn, head: c.head, body: c.body, call: call, tenant: o.Tenant, timeouts: o.Timeouts, onText: onText, pauses: pauses{pace: o.Pace},
	}
	result, err := x.run(ctx)
	if c.plain != nil {
		result.Features = openai.NewFeatures(result.Features, openai.FeatureTools)
	}
	return result, err
}
