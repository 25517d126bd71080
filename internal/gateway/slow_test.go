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

	"github.com/gorizond/koldun/internal/waittest"
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
				t.Errorf("the connection is kept: %v", err)
			}
		})
	}
}

// TestConnectionIsUsedAgain: deadlines of one request do not harm the next. A
// busy machine may miss short ones, and not long ones too.
func TestConnectionIsUsedAgain(t *testing.T) {
	var err error
	for _, deadline := range []time.Duration{time.Second, 5 * time.Second, 25 * time.Second} {
		if err = useAgain(t, deadline); err == nil {
			return
		}
		t.Logf("deadlines of %v: %v", deadline, err)
	}
	t.Error(err)
}

func useAgain(t *testing.T, deadline time.Duration) error {
	t.Helper()
	w := newWorld(t, func(_ *Config, p *pace) { p.write, p.body = deadline, deadline })
	runner := startRunner(t, w.bus, tinySession, says("x"))
	ids := map[string]bool{}
	for range 2 {
		r, body, err := w.try("POST", "/v1/chat/completions", chatBody(streaming))
		if err != nil {
			return err
		}
		if r.StatusCode != http.StatusOK || !strings.Contains(body, "[DONE]") {
			return fmt.Errorf("%d %s", r.StatusCode, body)
		}
		ids[r.Header.Get("X-Request-Id")] = true
		<-time.After(deadline * 6 / 5)
	}
	if len(ids) != 2 || len(runner.seen()) != 2 {
		return fmt.Errorf("%d ids, %d requests", len(ids), len(runner.seen()))
	}
	return nil
}
