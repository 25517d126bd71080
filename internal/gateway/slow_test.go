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
)

// TestBodyThatNeverComes is cut, whether somebody wants to read it or not.
func TestBodyThatNeverComes(t *testing.T) {
	w := newWorld(t, func(_ *Config, p *pace) { p.body = 100 * time.Millisecond })
	for path, status := range map[string]int{"/v1/chat/completions": 400, "/v1/embeddings": 404} {
		t.Run(path, func(t *testing.T) {
			c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
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
			_ = c.SetReadDeadline(time.Now().Add(time.Minute))
			if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("the connection is kept: %v", err)
			}
		})
	}
}

// TestConnectionIsUsedAgain: deadlines of one request do not harm the next.
func TestConnectionIsUsedAgain(t *testing.T) {
	w := newWorld(t, func(_ *Config, p *pace) { p.write, p.body = time.Second, time.Second })
	runner := startRunner(t, w.bus, tinySession, says("x"))
	ids := map[string]bool{}
	for range 2 {
		r, body := w.do("POST", "/v1/chat/completions", chatBody(streaming))
		if r.StatusCode != http.StatusOK || !strings.Contains(body, "[DONE]") {
			t.Fatalf("%d %s", r.StatusCode, body)
		}
		ids[r.Header.Get("X-Request-Id")] = true
		<-time.After(1200 * time.Millisecond) // beyond both deadlines
	}
	if len(ids) != 2 || len(runner.seen()) != 2 {
		t.Errorf("%d ids, %d requests", len(ids), len(runner.seen()))
	}
}
