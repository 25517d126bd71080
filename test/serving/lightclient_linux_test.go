package serving_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/openai"

	"github.com/gorizond/koldun/test/history"
)

// A lightClient is an HTTP client that uses little CPU, because it shares the cores
// with what it measures. It has one goroutine and one connection, which it reuses
// while the server keeps it open.
type lightClient struct {
	addr      string // "host:port"
	from      history.Tenant
	readDelay time.Duration // pause before each read
	conn      net.Conn      // nil: not connected
	in        *bufio.Reader
	out       bytes.Buffer
	body      bytes.Buffer
}

func newLightClient(tb testing.TB, url string, from history.Tenant) *lightClient {
	c := &lightClient{addr: strings.TrimPrefix(url, "http://"), from: from}
	tb.Cleanup(c.close)
	return c
}

func (c *lightClient) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// send sends one request, and reads the whole answer. An incomplete answer is an
// error.
func (c *lightClient) send(w history.Prompt, stream bool) error {
	resp, err := c.open(w, stream)
	if err != nil {
		c.close()
		return err
	}
	c.body.Reset()
	_, err = c.body.ReadFrom(slowReader{resp.Body, c.readDelay})
	if err != nil || resp.Close {
		c.close()
	}
	text := c.body.Bytes()
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK, !bytes.Contains(text, []byte(`"content":"`+w.ID+"/")),
		stream && !bytes.HasSuffix(bytes.TrimSpace(text), []byte("data: "+openai.Done)):
		return fmt.Errorf("%s: %s", resp.Status, tail(text, 300))
	}
	return nil
}

// A slowReader pauses before each read.
type slowReader struct {
	io.Reader
	readDelay time.Duration
}

func (r slowReader) Read(b []byte) (int, error) {
	if r.readDelay > 0 {
		time.Sleep(r.readDelay)
	}
	return r.Reader.Read(b)
}

// open sends one request and reads the header of its answer.
func (c *lightClient) open(w history.Prompt, stream bool) (*http.Response, error) {
	if c.conn == nil {
		conn, err := net.Dial("tcp", c.addr)
		if err != nil {
			return nil, err
		}
		c.conn, c.in = conn, bufio.NewReader(conn)
	}
	text, err := io.ReadAll(history.Body(w, stream))
	if err != nil {
		return nil, err
	}
	c.out.Reset()
	fmt.Fprintf(&c.out, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
		c.addr, c.from.Token, len(text), text)
	if _, err := c.conn.Write(c.out.Bytes()); err != nil {
		return nil, err
	}
	return http.ReadResponse(c.in, nil)
}
