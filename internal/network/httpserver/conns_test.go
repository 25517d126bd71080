package httpserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/waittest"
)

// TestClientsThatWaitShutOutNone opens many times the connections that may wait, with
// headers and bodies that never end: other clients are served, and an answer that has
// begun goes on.
func TestClientsThatWaitShutOutNone(t *testing.T) {
	const most = 4
	begun, end := make(chan struct{}), make(chan struct{})
	url, stop := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/long" {
			close(begun)
			<-end
		}
		_, _ = io.WriteString(w, "whole")
	}), Options{HeaderTimeout: time.Hour, waiting: most})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	open := func(begin string) net.Conn {
		c := connect(t, url)
		if _, err := io.WriteString(c, begin); err != nil {
			t.Fatal(err)
		}
		return c
	}
	answered := func(c net.Conn) {
		t.Helper()
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Body.Close() }()
		if b, err := io.ReadAll(r.Body); err != nil || string(b) != "whole" {
			t.Fatalf("%q, %v", b, err)
		}
	}
	long := open("POST /long HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx")
	waittest.Receive(t, "the answer begins", begun)
	var stalled []net.Conn
	for i := range 10 * most {
		stalled = append(stalled, open([]string{"GET / HTTP/1.1\r\nHost: localhost\r\nLarge: ", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx", ""}[i%3]))
		answered(open("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
	}
	for _, c := range stalled[:len(stalled)-most] {
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("a connection that has waited longest is still open: %v", err)
		}
	}
	close(end)
	answered(long)
}

// TestConnectionsAreCounted holds that none is counted after it has ended.
func TestConnectionsAreCounted(t *testing.T) {
	all := newConns()
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: all.handler(http.NotFoundHandler()), ConnContext: withConn, ConnState: changed, ReadHeaderTimeout: time.Hour}
	done := make(chan error, 1)
	go func() { done <- s.Serve(all.listener(l)) }()
	for range 10 {
		c := &http.Client{Transport: &http.Transport{}}
		for range 3 {
			r, err := c.Post("http://"+l.Addr().String(), "text/plain", strings.NewReader("hello"))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, r.Body)
			_ = r.Body.Close()
		}
		c.CloseIdleConnections()
	}
	waittest.Until(t, "all connections have ended", func() bool {
		all.mu.Lock()
		defer all.mu.Unlock()
		return all.open == 0 && all.waiting.Len() == 0
	})
	_ = s.Close()
	_ = waittest.Receive(t, "the server ends", done)
}

// TestHeadersWithManyLinesAreRefused holds that lines are counted up to the end of each
// header of a connection, and not in bodies.
func TestHeadersWithManyLinesAreRefused(t *testing.T) {
	c := dial(t, Options{HeaderTimeout: time.Minute})
	answers := bufio.NewReader(c)
	send := func(lines int) (*http.Response, error) {
		body := strings.Repeat("\n", 2*maxHeaderLines)
		request := fmt.Sprintf("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n%s", len(body), strings.Repeat("a:b\r\n", lines), body)
		if _, err := io.WriteString(c, request); err != nil {
			return nil, err
		}
		return http.ReadResponse(answers, nil)
	}
	for range 3 {
		r, err := send(maxHeaderLines - 4)
		if err != nil {
			t.Fatal(err)
		}
		if _ = r.Body.Close(); r.StatusCode != http.StatusTeapot {
			t.Fatalf("status %d", r.StatusCode)
		}
	}
	if r, err := send(maxHeaderLines); err == nil {
		if _ = r.Body.Close(); r.StatusCode == http.StatusTeapot {
			t.Error("a header with too many lines is served")
		}
	}
}

// TestRefusedBodiesGetTheirAnswer sends more of a body than the server reads after an answer:
// the client gets the answer and the end of the connection, not a reset, which could overtake it.
func TestRefusedBodiesGetTheirAnswer(t *testing.T) {
	url, stop := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}), Options{})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	c := connect(t, url)
	const sent = 320 << 10 // net/http reads 256 KiB
	if _, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", 1<<30, strings.Repeat("x", sent)); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	r, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	if _, err := in.ReadByte(); r.StatusCode != http.StatusForbidden || !errors.Is(err, io.EOF) {
		t.Errorf("status %d, then %v", r.StatusCode, err)
	}
}
