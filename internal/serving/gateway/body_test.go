package gateway

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/waittest"
)

// TestBodyOfUnknownLength checks that a chunked body is read up to the limit only.
func TestBodyOfUnknownLength(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.MaxBodyBytes = 1000 })
	body := io.MultiReader(strings.NewReader(chatBody(`,"user":"` + strings.Repeat("x", 1000) + `"`)))
	request, err := http.NewRequestWithContext(waittest.Context(t), http.MethodPost, w.url+"/v1/chat/completions", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if e := decodeError(t, string(text)); r.StatusCode != http.StatusRequestEntityTooLarge || e.Code != "request_too_large" {
		t.Errorf("got %d %s", r.StatusCode, text)
	}
}

// TestTooLargeIsNotSent checks that a client with "Expect: 100-continue", such as
// curl, does not send a body that is too large.
func TestTooLargeIsNotSent(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.MaxBodyBytes = 1000 })
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(waittest.Patience)); err != nil {
		t.Fatal(err)
	}
	const head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n"
	if _, err := io.WriteString(c, head); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || !strings.Contains(line, " 413 ") {
		t.Errorf("first line: got %q, %v; want 413", line, err)
	}
}

// TestBodyThatNeverComes checks that a stalled body ends the connection, whether or
// not a handler reads it.
func TestBodyThatNeverComes(t *testing.T) {
	w := newWorld(t, func(_ *Config, p *timing) { p.body = 100 * time.Millisecond })
	for path, status := range map[string]int{"/v1/chat/completions": 400, "/v1/rerank": 404} {
		t.Run(path, func(t *testing.T) {
			c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			_ = c.SetDeadline(time.Now().Add(waittest.Patience))
			_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", path)
			r := bufio.NewReader(c)
			response, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != status {
				t.Errorf("status %d, want %d", response.StatusCode, status)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("connection is still open: %v", err)
			}
		})
	}
}
