package engineapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
)

// An answer is what comes of one request to a Server.
type answer struct {
	server   *Server
	timeouts Timeouts
	silence  silence
	onText   func(Delta) error
	result   Result
	calls    toolCalls
	pending  pending // received and not passed on yet
}

// events reads a stream. It tolerates comments, chunks without choices and a
// missing [DONE], but not a stream that ends before it has said why.
func (a *answer) events(r io.Reader) error {
	dec := openai.NewDecoder(r, maxEvent)
	for {
		if !dec.More() || a.size() >= maxPending {
			if err := a.deliver(); err != nil {
				return err
			}
		}
		ev, err := dec.Next()
		if errors.Is(err, io.EOF) && a.result.FinishReason != "" {
			return a.finish()
		}
		if err != nil {
			return a.broken(err)
		}
		data := bytes.TrimSpace(ev.Data)
		if string(data) == openai.Done {
			return a.finish()
		}
		if len(data) == 0 {
			continue
		}
		if ev.Cut && !json.Valid(data) {
			return a.broken(io.ErrUnexpectedEOF)
		}
		if err := a.take(data); err != nil {
			return errors.Join(a.deliver(), err)
		}
	}
}

// take takes an event.
func (a *answer) take(data []byte) error {
	c, err := decodeChunk(data)
	if err != nil {
		return fault.Errorf(fault.Transient, "cannot read the answer of the server at %s: %w", a.server.base, err)
	}
	if c.failed != nil {
		if c.failed.Message == "" {
			c.failed.Message = "the server reports an error"
		}
		return a.server.fail(c.failed, 0)
	}
	if c.usage != nil {
		a.result.Usage = c.usage
	}
	if c.finish != "" {
		a.result.FinishReason, a.result.StopSequence = c.finish, c.stop
	}
	return a.add(c.text, c.parts(&a.calls))
}

// add takes a piece of the answer, to be passed on.
func (a *answer) add(text string, parts *openai.Parts) error {
	if text == "" && parts == nil {
		return nil
	}
	if !a.pending.fits(text, parts) {
		if err := a.deliver(); err != nil {
			return err
		}
	}
	a.result.Deltas++
	a.pending.add(text, parts)
	return nil
}

func (a *answer) size() int { return a.pending.size() }

// deliver passes on what is pending, and begins to wait for the next.
func (a *answer) deliver() error {
	d, some := a.pending.take()
	if !some {
		return nil
	}
	a.silence.heard(a.timeouts.Between)
	return a.onText(d)
}

// finish ends a whole answer. A call without arguments gets an empty object, which
// some servers lose, unless the answer was cut off before they came.
func (a *answer) finish() error {
	if a.result.FinishReason == "" {
		a.result.FinishReason = openai.FinishStop
	}
	if rest := a.calls.rest(); rest != nil && a.result.FinishReason != openai.FinishLength {
		if err := a.add("", rest); err != nil {
			return err
		}
	}
	if a.calls.any() && a.result.FinishReason == openai.FinishStop {
		a.result.FinishReason = openai.FinishToolCalls
	}
	return a.deliver()
}

// broken returns the error of an answer that broke off, after it has passed on
// what came before.
func (a *answer) broken(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	err = fault.Errorf(fault.Transient, "cannot read the answer of the server at %s: %w", a.server.base, err)
	return errors.Join(a.deliver(), err)
}
