package engineapi

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/openai"
)

// ErrTimeout means that the engine was silent for longer than Timeouts allow.
var ErrTimeout = errors.New("the engine was silent for too long")

const (
	maxHeader = 64 << 10
	maxEvent  = 1 << 20
	maxError  = 64 << 10
)

// An exchange is one request on one connection.
type exchange struct {
	addr     string
	conn     net.Conn
	head     *bufio.Reader // of the client
	body     *bufio.Reader // of the client
	call     call
	tenant   string
	timeouts Timeouts
	onText   func(Delta) error
	result   Result

	calls     toolCalls
	pending   pending // received and not passed on yet
	delivered time.Time
	pauses    pauses
}

// run sends the request, reads the answer and closes the connection.
func (x *exchange) run(ctx context.Context) (Result, error) {
	defer func() { _ = x.conn.Close() }()
	// Nothing may close the connection before the whole request is written.
	if err := x.send(); err != nil {
		return x.result, x.broken(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = x.conn.Close() })
	defer stop()
	err := x.receive()
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return x.result, cause
	}
	return x.result, err
}

// sendTimeout bounds writing a request of a few MiB into a socket. The server
// may read it only after another client's, but the kernel buffers it.
const sendTimeout = time.Minute

func (x *exchange) send() error {
	var req bytes.Buffer
	fmt.Fprintf(&req, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n", x.call.path, x.addr, len(x.call.body))
	if x.tenant != "" {
		fmt.Fprintf(&req, "%s: %s\r\n", openai.HeaderTenant, pseudonym(x.tenant))
	}
	req.WriteString("\r\n")
	req.Write(x.call.body)
	_ = x.conn.SetWriteDeadline(time.Now().Add(sendTimeout))
	_, err := x.conn.Write(req.Bytes())
	return err
}

// pseudonym stands for a name in logs and headers, which may not hold any text.
func pseudonym(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

func (x *exchange) receive() error {
	x.setReadTimeout(x.timeouts.First)
	bounded := &io.LimitedReader{R: x.conn, N: maxHeader}
	x.head.Reset(bounded)
	resp, err := http.ReadResponse(x.head, nil) //nolint:bodyclose // see below
	if err != nil {
		return x.broken(err)
	}
	bounded.N = math.MaxInt64
	x.result.Honours = honours(resp.Header)
	x.result.Operations = openai.ParseOperations(resp.Header.Get(openai.HeaderOperations))
	x.result.Features = openai.NewFeatures(resp.Header.Get(openai.HeaderFeatures))
	// The body is never closed: that would read it to its end. Closing the
	// connection frees all there is.
	if resp.StatusCode != http.StatusOK {
		return refused(resp)
	}
	if ct := resp.Header.Get("Content-Type"); !strings.HasPrefix(ct, x.call.contentType) {
		return fault.Errorf(fault.Internal, "cannot read the answer of the engine at %s: it is %q, not %s", x.addr, ct, x.call.contentType)
	}
	return x.call.read(x, resp.Body)
}

// honours returns the hints that an engine honours. Upstream does not list any:
// its sampler takes temperature and top-p from the command line and the seed
// from the request.
func honours(h http.Header) []string {
	if listed := h.Values(openai.HeaderHonours); len(listed) > 0 {
		return openai.ParseHonours(listed[0])
	}
	return []string{openai.HintSeed}
}

// maxPending is how much text is passed on at once.
const maxPending = 4 << 10 // bytes

// events reads a stream to its [DONE], whose line upstream does not end. It
// passes text on as soon as no more of it has been received.
func (x *exchange) events(r io.Reader) error {
	x.body.Reset(r)
	dec := openai.NewDecoder(x.body, maxEvent)
	finish := ""
	for {
		if !dec.More() || x.size() >= maxPending {
			pieces := x.pending.delta.Pieces
			if err := x.deliver(); err != nil {
				return err
			}
			x.pause(pieces)
		}
		ev, err := dec.Next()
		if err != nil {
			return x.broken(err)
		}
		if string(bytes.TrimSpace(ev.Data)) == openai.Done {
			return x.end(finish)
		}
		if ev.Cut {
			return x.broken(io.ErrUnexpectedEOF)
		}
		piece, err := decode(ev.Data)
		if err != nil {
			return errors.Join(x.deliver(), x.failed(err))
		}
		if piece.finish != "" {
			finish, x.result.StopSequence = piece.finish, piece.stop
		}
		if piece.usage != nil {
			x.result.Usage = piece.usage
		}
		if err := x.take(piece); err != nil {
			return err
		}
	}
}

// failed returns why the engine ended a stream. What is the request's fault has the status
// that it would have had before the stream: other engines would refuse it too.
func (x *exchange) failed(err error) error {
	var e *openai.Error
	if errors.As(err, &e) && e.Type == openai.InvalidRequest {
		e.Status = http.StatusBadRequest
		return fault.As(fault.Invalid, e)
	}
	return fault.Errorf(fault.Transient, "cannot read the answer of the engine at %s: %w", x.addr, err)
}

// take takes an event. A piece of text that may belong to a call of a tool waits.
func (x *exchange) take(p piece) error {
	parts := p.parts(&x.calls)
	if p.text == "" && parts == nil {
		return nil
	}
	x.result.Deltas++
	if x.call.parser == nil {
		return x.add(p.text, parts)
	}
	x.setReadTimeout(x.timeouts.Between)
	return x.addFound(x.call.parser.Push(p.text))
}

// addFound takes what a parser found in text.
func (x *exchange) addFound(found []toolcall.Piece) error {
	for _, f := range found {
		var parts *openai.Parts
		if len(f.Calls) > 0 {
			parts = &openai.Parts{ToolCalls: f.Calls}
		}
		if err := x.add(f.Text, parts); err != nil {
			return err
		}
	}
	return nil
}

// add takes a piece of the answer, to be passed on.
func (x *exchange) add(text string, parts *openai.Parts) error {
	if !x.pending.fits(text, parts) {
		if err := x.deliver(); err != nil {
			return err
		}
	}
	x.pending.add(text, parts)
	return nil
}

// end passes on the rest of a whole answer.
func (x *exchange) end(reason string) error {
	x.result.FinishReason = x.finish(reason)
	called := x.calls.any()
	if p := x.call.parser; p != nil {
		if err := x.addFound(p.Rest()); err != nil {
			return err
		}
		called = p.Called()
	}
	if called && x.result.FinishReason == openai.FinishStop {
		x.result.FinishReason = openai.FinishToolCalls
	}
	return x.deliver()
}

func (x *exchange) size() int { return x.pending.size() }

// deliver passes on the pending text, and sets the timeout for the next.
func (x *exchange) deliver() error {
	d, some := x.pending.take()
	if !some {
		return nil
	}
	x.setReadTimeout(x.timeouts.Between)
	return x.onText(d)
}

// pause waits for more text, after the given number of pieces was passed on.
func (x *exchange) pause(pieces int) {
	if pieces == 0 || x.pauses.pace == 0 {
		return
	}
	now := time.Now()
	gap := now.Sub(x.delivered)
	x.delivered = now
	time.Sleep(x.pauses.next(gap, pieces)) // too short for the end of the context to interrupt it
}

// finish corrects the reason: upstream says "stop" whatever ended the answer, or
// nothing.
func (x *exchange) finish(reason string) string {
	if reason == openai.FinishLength || x.call.maxTokens > 0 && x.tokens() >= x.call.maxTokens {
		return openai.FinishLength
	}
	return openai.FinishStop
}

// tokens returns how many tokens have come, or 0 if the engine counts them: then
// it also says correctly why it ended.
func (x *exchange) tokens() int {
	if x.result.Usage != nil {
		return 0
	}
	return x.result.Deltas
}

// setReadTimeout bounds the time until the next bytes of the engine; 0 is no
// bound.
func (x *exchange) setReadTimeout(d time.Duration) {
	var deadline time.Time
	if d > 0 {
		deadline = time.Now().Add(d)
	}
	_ = x.conn.SetReadDeadline(deadline)
}

// broken returns the error of an answer that broke off.
func (x *exchange) broken(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fault.Errorf(fault.Transient, "cannot read the answer of the engine at %s: %w", x.addr, ErrTimeout)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fault.Errorf(fault.Transient, "cannot read the answer of the engine at %s: %w", x.addr, err)
}

// refused returns an answer that is not 200 as an *openai.Error with a kind.
func refused(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxError))
	e := &openai.Error{}
	if err := json.Unmarshal(text, e); err != nil || e.Message == "" {
		e = &openai.Error{Message: "the engine answered " + resp.Status}
	}
	e.Status = resp.StatusCode
	kind := fault.Internal
	switch {
	case resp.StatusCode >= 500, resp.StatusCode == http.StatusTooManyRequests:
		kind = fault.Transient
	case resp.StatusCode == http.StatusNotFound:
		kind = fault.Unsupported
	case resp.StatusCode >= 400:
		kind = fault.Invalid
	}
	return fault.As(kind, e)
}
