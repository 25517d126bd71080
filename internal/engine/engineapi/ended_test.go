package engineapi

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/test/waittest"
)

// TestEndedConnectionsAreClosed asks an engine that leaves its connections open.
func TestEndedConnectionsAreClosed(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	closed := make(chan error, 3)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r := bufio.NewReader(conn)
			if req, err := http.ReadRequest(r); err == nil {
				_, _ = io.Copy(io.Discard, req.Body)
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: [DONE]\n\n")
			_, err = r.ReadByte()
			closed <- err
			_ = conn.Close()
		}
	}()
	c, err := New("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, err := c.Do(t.Context(), Chat{Messages: []openai.Message{{Role: openai.User, Content: "hello"}}}, Options{}, func(Delta) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := waittest.Receive(t, "the end of the connection", closed); !errors.Is(err, io.EOF) {
			t.Errorf("the connection ended with %v", err)
		}
	}
	c.Close()
}
