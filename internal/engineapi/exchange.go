package engineapi

import (
	"bufio"
	"bytes"
	"context"
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
	addr   string
	conn   net.Conn
	head   *bufio.Reader // borrowed
	body   *bufio.Reader // borrowed
	chat   Chat
	onText func(Delta) error
	result Result

	pending Delta // received and not told yet
	told    time.Time
	breath  breath
}

// run closes the connection unless it ended well.
func (x *exchange) run(ctx context.Context, body []byte) (Result, error) {
	result, err := x.ask(ctx, body)
	if err != nil {
		_ = x.conn.Close()
	}
	return result, err
}

func (x *exchange) ask(ctx context.Context, body []byte) (Result, error) {
	// The request is written whole before anything may close the connection.
	if err := x.send(body); err != nil {
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

// sendTimeout bounds writing a request of a few MiB into a socket; the server
// may read it only when it has finished another's, but the kernel takes it.
const sendTimeout = time.Minute

func (x *exchange) send(body []byte) error {
	var req bytes.Buffer
	fmt.Fprintf(&req, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", x.addr, len(body))
	req.Write(body)
	_ = x.conn.SetWriteDeadline(time.Now().Add(sendTimeout))
	_, err := x.conn.Write(req.Bytes())
	return err
}

func (x *exchange) receive() error {
	x.patience(x.chat.Timeouts.First)
	bounded := &io.LimitedReader{R: x.conn, N: maxHeader}
	x.head.Reset(bounded)
	resp, err := http.ReadResponse(x.head, nil) //nolint:bodyclose // see below
	if err != nil {
		return x.broken(err)
	}
	bounded.N = math.MaxInt64
	x.result.Honours = honours(resp.Header)
	// The body is never closed: that would read it to its end, and closing the
	// connection is all there is to free.
	if resp.StatusCode != http.StatusOK {
		return refused(resp)
	}
	if ct := resp.Header.Get("Content-Type"); !strings.HasPrefix(ct, "text/event-stream") {
		return fault.Errorf(fault.Internal, "cannot read the answer of the engine at %s: it is %q, not an event stream", x.addr, ct)
	}
	return x.events(resp.Body)
}

// honours are the hints that an engine honours. Upstream says nothing of them:
// its sampler takes temperature and top-p of the command line and the seed of
// the request.
func honours(h http.Header) []string {
	if said := h.Values(openai.HeaderHonours); len(said) > 0 {
		return openai.ParseHonours(said[0])
	}
	return []string{openai.HintSeed}
}

// maxPending is how much text is told at once, in bytes.
const maxPending = 4 << 10

// events reads the stream to its [DONE], whose line upstream does not end. Text
// is told as soon as no more of it has been received.
func (x *exchange) events(r io.Reader) error {
	x.body.Reset(r)
	dec := openai.NewDecoder(x.body, maxEvent)
	finish := ""
	for {
		if !dec.More() || len(x.pending.Text) >= maxPending {
			pieces := x.pending.Pieces
			if err := x.tell(); err != nil {
				return err
			}
			x.pause(pieces)
		}
		ev, err := dec.Next()
		if err != nil {
			return x.broken(err)
		}
		if string(bytes.TrimSpace(ev.Data)) == openai.Done {
			x.result.FinishReason = x.finish(finish)
			return x.tell()
		}
		if ev.Cut {
			return x.broken(io.ErrUnexpectedEOF)
		}
		piece, err := decode(ev.Data)
		if err != nil {
			err = fault.Errorf(fault.Transient, "cannot read the answer of the engine at %s: %w", x.addr, err)
			return errors.Join(x.tell(), err)
		}
		if piece.finish != "" {
			finish = piece.finish
		}
		if piece.usage != nil {
			x.result.Usage = piece.usage
		}
		if piece.text != "" {
			x.result.Deltas++
			x.pending.Text += piece.text
			x.pending.Pieces++
		}
	}
}

// tell passes on what has come, and gives the engine time for more.
func (x *exchange) tell() error {
	if x.pending.Pieces == 0 {
		return nil
	}
	d := x.pending
	x.pending = Delta{}
	x.patience(x.chat.Timeouts.Between)
	return x.onText(d)
}

// pause lets more come before it is looked for, if so many pieces were just told.
func (x *exchange) pause(pieces int) {
	if pieces == 0 || x.breath.pace == 0 {
		return
	}
	now := time.Now()
	gap := now.Sub(x.told)
	x.told = now
	x.rest(x.breath.after(gap, pieces))
}

// finish mends the reason: upstream says "stop" whatever ended it, or nothing.
func (x *exchange) finish(reason string) string {
	if reason == openai.FinishLength || x.chat.MaxTokens > 0 && x.tokens() >= x.chat.MaxTokens {
		return openai.FinishLength
	}
	return openai.FinishStop
}

func (x *exchange) tokens() int {
	if x.result.Usage != nil {
		// An engine that counts for itself also says rightly why it ended.
		return 0
	}
	return x.result.Deltas
}

// patience gives the engine so long for its next bytes.
func (x *exchange) patience(d time.Duration) {
	var deadline time.Time
	if d > 0 {
		deadline = time.Now().Add(d)
	}
	_ = x.conn.SetReadDeadline(deadline)
}

func (x *exchange) broken(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fault.Errorf(fault.Transient, "cannot read the answer of the engine at %s: %w", x.addr, ErrTimeout)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fault.Errorf(fault.Transient, "cannot read the answer of the engine at %s: %w", x.addr, err)
}

// refused turns an answer that is not 200 into an *openai.Error with a kind.
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
