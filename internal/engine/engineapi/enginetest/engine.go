// Package enginetest is a double of upstream's dllama-api with its quirks: it
// aborts on a connection without a request, on malformed JSON and on types it
// does not expect, reads a body's length only from a header spelt
// "Content-Length", serves one connection at a time unless it has more slots, and
// answers with a garbage
// index, the object of a complete answer, empty finish reasons and a [DONE]
// without a line end.
package enginetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/internal/openai"
)

// A Request is what the engine was asked.
type Request struct {
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	Stream    bool   `json:"stream"`
	MaxTokens int    `json:"max_tokens"`
	Seed      uint64 `json:"seed"`
}

// Last is the content of the last message.
func (r Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Content
}

// A Reply is how the engine answers.
type Reply struct {
	Pieces []string      // of text, one token each
	Repeat bool          // the pieces again and again, until max_tokens or for ever
	Every  time.Duration // pause before each piece
	// Gate, if set, lets one piece pass for each value received.
	Gate <-chan struct{}
	// BreakAfter ends the connection without an end after so many pieces, if
	// it is not 0; -1 ends it before the first.
	BreakAfter int
	// Done, if set, is called with the number of pieces when a stream has ended,
	// whether whole or not, and before the client sees the end of a whole one.
	Done func(pieces int)
	// Status, if not 0, answers with an error in OpenAI's form instead, as the
	// embedded engine does.
	Status int
	Code   string
	// Honours, if set, is announced in openai.HeaderHonours, as the embedded
	// engine does.
	Honours string
	// Operations, if set, is announced in openai.HeaderOperations.
	Operations string
}

// An Engine is a running double.
type Engine struct {
	URL string
	// Slots is how many connections it serves at a time, if it is more than one.
	// It counts from the next Run on.
	Slots int

	addr  string
	reply func(Request) Reply

	mu       sync.Mutex
	l        net.Listener
	open     map[net.Conn]bool
	done     chan struct{}
	aborted  string
	requests []Request
	produced int
	active   int
	most     int // of active
}

// Start runs an engine on a loopback port of its own until the test ends. reply may
// be nil: then the answer is the last message, word by word.
func Start(tb testing.TB, reply func(Request) Reply) *Engine {
	tb.Helper()
	e := New(porttest.Address(tb), reply)
	if err := e.Run(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(e.Stop)
	return e
}

// New makes an engine for "host:port", to be Run. reply may be nil as in Start.
func New(addr string, reply func(Request) Reply) *Engine {
	if reply == nil {
		reply = Echo
	}
	return &Engine{reply: reply, addr: addr, open: map[net.Conn]bool{}}
}

// Echo answers with the last message, word by word.
func Echo(r Request) Reply { return Reply{Pieces: strings.SplitAfter(r.Last(), " ")} }

// Run starts the engine (again), on the same port.
func (e *Engine) Run() error {
	e.Stop()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", e.addr)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.l, e.addr, e.URL = l, l.Addr().String(), "http://"+l.Addr().String()
	e.aborted, e.done = "", make(chan struct{})
	var serving sync.WaitGroup
	for range max(e.Slots, 1) {
		serving.Go(func() { e.serve(l) })
	}
	go func(done chan struct{}) { serving.Wait(); close(done) }(e.done)
	return nil
}

// Stop kills the engine: connections are cut, the port is closed.
func (e *Engine) Stop() {
	e.mu.Lock()
	l, done := e.l, e.done
	e.l = nil
	if l != nil {
		_ = l.Close()
		for c := range e.open {
			_ = c.Close()
		}
	}
	e.mu.Unlock()
	if l != nil {
		<-done
	}
}

// Aborted is why the engine has aborted, or "".
func (e *Engine) Aborted() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.aborted
}

// Requests are the chats that were asked for.
func (e *Engine) Requests() []Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Request(nil), e.requests...)
}

// Active reports whether a generation is going on.
func (e *Engine) Active() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.active > 0
}

// Most returns how many generations went on at the same time at most.
func (e *Engine) Most() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.most
}

// Produced counts the pieces that were generated in all.
func (e *Engine) Produced() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.produced
}

// serve serves one connection after the other.
func (e *Engine) serve(l net.Listener) {
	r := bufio.NewReaderSize(nil, 64<<10)
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		e.mu.Lock()
		e.open[conn] = true
		dead := e.l != l
		e.mu.Unlock()
		if !dead {
			r.Reset(conn)
			err = e.handle(conn, r)
		}
		e.mu.Lock()
		delete(e.open, conn)
		if err != nil && e.l == l { // an abort takes the whole process down
			e.aborted = err.Error()
			_ = l.Close()
		}
		e.mu.Unlock()
		_ = conn.Close()
	}
}

// handle serves one connection. An error means that upstream would abort.
func (e *Engine) handle(conn net.Conn, r *bufio.Reader) error {
	header, err := readHeader(r)
	if err != nil {
		return errors.New("error while reading headers from socket")
	}
	method, path, _ := strings.Cut(strings.SplitN(header, "\r\n", 2)[0], " ")
	path, _, _ = strings.Cut(path, " ")
	body, err := readBody(r, header)
	if err != nil {
		return err
	}
	switch {
	case method == "OPTIONS":
		_, _ = fmt.Fprint(conn, "HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n")
		return nil
	case method == "POST" && path == "/v1/chat/completions":
		return e.chat(conn, body)
	}
	_, _ = fmt.Fprint(conn, "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 9\r\n\r\nNot Found")
	return nil
}

func readHeader(r *bufio.Reader) (string, error) {
	var header strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return "", err
		}
		header.WriteString(line)
		if line == "\r\n" {
			return header.String(), nil
		}
	}
}

// readBody finds the length as upstream does, by the exact spelling.
func readBody(r *bufio.Reader, header string) ([]byte, error) {
	if strings.Contains(header, "Transfer-Encoding: chunked") {
		return nil, errors.New("parse error: a chunked body is no JSON")
	}
	_, rest, ok := strings.Cut(header, "\r\nContent-Length: ")
	if !ok {
		body, _ := r.Peek(r.Buffered())
		return body, nil
	}
	text, _, _ := strings.Cut(rest, "\r\n")
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, errors.New("error while reading the body from socket")
	}
	return body, nil
}

func (e *Engine) chat(conn net.Conn, body []byte) error {
	var req Request
	if len(body) > 0 {
		// A field of another type than these aborts upstream.
		strict := struct {
			*Request
			Stop        []string `json:"stop"`
			Temperature float64  `json:"temperature"`
		}{Request: &req}
		if err := json.Unmarshal(body, &strict); err != nil {
			return fmt.Errorf("json: %w", err)
		}
		if bytes.Contains(body, []byte(`:null`)) {
			return errors.New("json: type_error 302: null")
		}
	}
	e.mu.Lock()
	e.requests = append(e.requests, req)
	e.active++
	e.most = max(e.most, e.active)
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		e.active--
		e.mu.Unlock()
	}()
	reply := e.reply(req)
	if reply.Status != 0 {
		text := fmt.Sprintf(`{"error":{"message":"refused","type":"invalid_request_error","param":null,"code":%q}}`, reply.Code)
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d Refused\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", reply.Status, len(text), text)
		return nil
	}
	e.stream(conn, req, reply)
	return nil
}

// stream writes the pieces until one cannot be written.
func (e *Engine) stream(conn net.Conn, req Request, reply Reply) {
	more := ""
	if reply.Honours != "" {
		more = openai.HeaderHonours + ": " + reply.Honours + "\r\n"
	}
	if reply.Operations != "" {
		more += openai.HeaderOperations + ": " + reply.Operations + "\r\n"
	}
	out := bufio.NewWriter(conn) // writes that nothing has to pass between go together
	_, _ = out.WriteString("HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n" + more + "Transfer-Encoding: chunked\r\n\r\n")
	if reply.Gate != nil || reply.Every > 0 || reply.BreakAfter != 0 {
		if out.Flush() != nil {
			return
		}
	}
	// The double sees a lost client while it waits, where upstream would see
	// it at its next write.
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = conn.Read(make([]byte, 1))
	}()
	n := 0
	done := sync.OnceFunc(func() {
		if reply.Done != nil {
			reply.Done(n)
		}
	})
	defer done()
	for ; ; n++ {
		if reply.BreakAfter != 0 && n == max(reply.BreakAfter, 0) {
			return
		}
		if req.MaxTokens > 0 && n >= req.MaxTokens || len(reply.Pieces) == 0 || n >= len(reply.Pieces) && !reply.Repeat {
			break
		}
		if !wait(reply, gone) {
			return
		}
		text, _ := json.Marshal(reply.Pieces[n%len(reply.Pieces)])
		event := fmt.Sprintf(`{"choices":[{"delta":{"content":%s,"role":"assistant"},"finish_reason":"","index":-496096352}],"created":1700000000,"id":"cmpl-c0","model":"Distributed Model","object":"chat.completion"}`, text)
		chunk(out, "data: "+event+"\r\n\r\n")
		if out.Flush() != nil {
			return
		}
		e.mu.Lock()
		e.produced++
		e.mu.Unlock()
	}
	done()
	chunk(out, `data: {"choices":[{"finish_reason":"stop","index":0}],"created":1700000000,"id":"cmpl-c0","model":"Distributed Model","object":"chat.completion"}`+"\r\n\r\n")
	chunk(out, "data: [DONE]")
	_, _ = out.WriteString("0000\r\n\r\n")
	_ = out.Flush()
}

// wait passes the time before a piece, and reports whether anybody wants it.
func wait(reply Reply, gone <-chan struct{}) bool {
	if reply.Gate != nil {
		select {
		case <-reply.Gate:
		case <-gone:
			return false
		}
	}
	if reply.Every == 0 {
		return true
	}
	timer := time.NewTimer(reply.Every)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-gone:
		return false
	}
}

// chunk leaves errors to the writer's Flush.
func chunk(w *bufio.Writer, text string) { _, _ = fmt.Fprintf(w, "%x\r\n%s\r\n", len(text), text) }
