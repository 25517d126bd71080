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
)

// A courier is a client that takes little of the cores it shares with what it
// measures: one goroutine, one connection, as long as that is kept open.
type courier struct {
	addr string // "host:port"
	from tenant
	lull time.Duration // before it reads on
	conn net.Conn      // nil: not connected
	in   *bufio.Reader
	out  bytes.Buffer
	body bytes.Buffer
}

func newCourier(tb testing.TB, url string, from tenant) *courier {
	c := &courier{addr: strings.TrimPrefix(url, "http://"), from: from}
	tb.Cleanup(c.close)
	return c
}

func (c *courier) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// ask sends one request, and reads the answer to its end. Anything but a whole
// answer is an error.
func (c *courier) ask(w wish, stream bool) error {
	resp, err := c.open(w, stream)
	if err != nil {
		c.close()
		return err
	}
	c.body.Reset()
	_, err = c.body.ReadFrom(idler{resp.Body, c.lull})
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

// An idler reads what has come meanwhile.
type idler struct {
	io.Reader
	lull time.Duration
}

func (r idler) Read(b []byte) (int, error) {
	if r.lull > 0 {
		time.Sleep(r.lull)
	}
	return r.Reader.Read(b)
}

// open sends one request, and reads the head of its answer.
func (c *courier) open(w wish, stream bool) (*http.Response, error) {
	if c.conn == nil {
		conn, err := net.Dial("tcp", c.addr)
		if err != nil {
			return nil, err
		}
		c.conn, c.in = conn, bufio.NewReader(conn)
	}
	text, err := io.ReadAll(body(w, stream))
	if err != nil {
		return nil, err
	}
	c.out.Reset()
	fmt.Fprintf(&c.out, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
		c.addr, c.from.token, len(text), text)
	if _, err := c.conn.Write(c.out.Bytes()); err != nil {
		return nil, err
	}
	return http.ReadResponse(c.in, nil)
}
