package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai/responses"
	"github.com/gorizond/koldun/test/waittest"
)

// TestLargeBodiesAreParsedInTurn holds that no more bytes are parsed at a time than the plan
// of the memory has, that small bodies do not wait for large ones, and that a turn that
// nobody waits for any more is not taken.
func TestLargeBodiesAreParsedInTurn(t *testing.T) {
	p := newParsing()
	end, err := p.begin(t.Context(), 2*names.RequestMaxSize) // larger than any: it comes alone
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.begin(gone, smallBody+1); !errors.Is(err, context.Canceled) {
		t.Errorf("a second large body has a turn at the same time: %v", err)
	}
	for range parsingSmall / smallBody {
		if _, err := p.begin(t.Context(), smallBody); err != nil {
			t.Fatalf("a small body waits for a large one: %v", err)
		}
	}
	if _, err := p.begin(gone, smallBody); err == nil {
		t.Error("small bodies have no bound")
	}
	end()
	if _, err := p.begin(t.Context(), smallBody+1); err != nil {
		t.Errorf("the turn does not come back: %v", err)
	}
}

// TestFramesTakeMemory sends a part of a frame: it is metered as a body is, and its memory
// comes back when its client leaves.
func TestFramesTakeMemory(t *testing.T) {
	w := newWorld(t, nil)
	conn := w.socket(t).conn
	frame, err := conn.Writer(waittest.Context(t), websocket.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	const part = 100 << 10
	if _, err := frame.Write(make([]byte, part)); err != nil {
		t.Fatal(err)
	}
	held := func() int64 {
		w.gateway.bodies.mu.Lock()
		defer w.gateway.bodies.mu.Unlock()
		return w.gateway.bodies.held
	}
	waittest.Until(t, "the frame holds memory", func() bool { return held() >= part/2 })
	_ = conn.CloseNow()
	waittest.Until(t, "the memory comes back", func() bool { return held() == 0 })
}

// TestLastResponseTakesMemory holds that what a connection keeps of a response counts.
func TestLastResponseTakesMemory(t *testing.T) {
	b := newBodies(1 << 20)
	m := &memory{responseStore: storeOf(nil, Config{}), bodies: b, tenant: "a"}
	m.Keep(t.Context(), "a", []responses.Item{{Kind: responses.KindMessage, Role: "user", Text: "x"}}, &responses.Response{ID: "r"})
	if m.record == nil || b.held < m.record.Size() {
		t.Errorf("%d bytes are held for %+v", b.held, m.record)
	}
}

// TestEachChoiceTakesMemory asks for several answers to a request whose bodies together
// exceed the memory.
func TestEachChoiceTakesMemory(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.MaxBodyMemory = 64 << 10 })
	r, body := w.do("POST", "/v1/chat/completions", chatBody(`,"n":8,"user":"`+strings.Repeat("x", 8<<10)+`"`))
	if e := decodeError(t, body); r.StatusCode != http.StatusServiceUnavailable || e.Code != "overloaded" {
		t.Errorf("%d: %s", r.StatusCode, body)
	}
	if held := w.gateway.bodies.held; held != 0 {
		t.Errorf("%d bytes are still held", held)
	}
}

// TestTokenIsCheckedBeforeTheBody sends the header of a request only.
func TestTokenIsCheckedBeforeTheBody(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.AllowAnonymous = false })
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(waittest.Patience))
	_, _ = fmt.Fprint(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
		"Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n")
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || !strings.Contains(line, " 401 ") {
		t.Errorf("first line: %q, %v", line, err)
	}
}
