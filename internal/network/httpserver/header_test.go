package httpserver

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/waittest"
)

// The server disconnects a client that sends its header byte by byte while it
// is still sending.
func TestSlowHeadersAreCutOff(t *testing.T) {
	c := dial(t, Options{HeaderTimeout: 50 * time.Millisecond})
	gone := make(chan bool)
	go func() {
		defer close(gone)
		_, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\nSlow: ")
		for ; err == nil; time.Sleep(time.Millisecond) {
			_, err = io.WriteString(c, "x")
		}
	}()
	// The end of the connection comes as io.EOF, or as a reset.
	if n, err := c.Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d bytes, %v; want the end of the connection", n, err)
	}
	_ = c.Close()
	waittest.Receive(t, "the client ends", gone)
}

// The server answers a client whose header never ends when the header reaches
// its limit.
func TestHeadersThatAreTooLargeAreRefused(t *testing.T) {
	c := dial(t, Options{HeaderTimeout: time.Minute})
	// Send exactly what the server reads: unread bytes would make the system
	// reset the connection, which could overtake the answer.
	const slack = 4096 // added by net/http to the limit
	header := "GET / HTTP/1.1\r\nHost: localhost\r\nLarge: "
	if _, err := io.WriteString(c, header+strings.Repeat("x", maxHeaderBytes+slack-len(header))); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d, want 431", response.StatusCode)
	}
}

// A header that stays below the limit is served.
func TestLargeHeadersAreServed(t *testing.T) {
	c := dial(t, Options{HeaderTimeout: time.Minute})
	header := "GET / HTTP/1.1\r\nHost: localhost\r\nLarge: " + strings.Repeat("x", maxHeaderBytes/2) + "\r\n\r\n"
	if _, err := io.WriteString(c, header); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusTeapot {
		t.Errorf("status %d, want that of the handler", response.StatusCode)
	}
}

// dial connects to a new server whose handler answers 418. The connection has a
// deadline of waittest.Patience.
func dial(t *testing.T, o Options) net.Conn {
	t.Helper()
	url, stop := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}), o)
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return connect(t, url)
}

// connect opens a connection to the server at url, with a deadline of waittest.Patience.
func connect(t *testing.T, url string) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(waittest.Patience)); err != nil {
		t.Fatal(err)
	}
	return c
}
