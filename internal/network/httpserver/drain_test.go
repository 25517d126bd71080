package httpserver

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorizond/koldun/test/waittest"
)

// A server that stops answers what comes on new connections and on those that clients
// have kept, and closes them.
func TestServeAnswersWhileItDrains(t *testing.T) {
	entered, leave := make(chan bool), make(chan bool)
	url, stop := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(entered)
			<-leave
		}
		_, _ = io.WriteString(w, "done")
	}), Options{Drain: waittest.Patience, Grace: waittest.Patience})
	connect := func() (ask func(path string) (closes bool)) {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(waittest.Patience))
		in := bufio.NewReader(c)
		return func(path string) bool {
			t.Helper()
			if _, err := io.WriteString(c, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"); err != nil {
				t.Error(err)
			}
			r, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Error(err)
				return false
			}
			defer func() { _ = r.Body.Close() }()
			if body, err := io.ReadAll(r.Body); string(body) != "done" {
				t.Errorf("body %q, %v", body, err)
			}
			return r.Close
		}
	}
	kept, slow := connect(), connect()
	if kept("/") {
		t.Error("a server that does not stop closes a connection")
	}
	answered := make(chan bool, 1)
	go func() { answered <- slow("/slow") }() // the drain lasts as long as it
	waittest.Receive(t, "the slow request comes", entered)
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	waittest.Until(t, "an answer that closes a new connection", func() bool { return connect()("/") })
	if !kept("/") {
		t.Error("the connection that was kept stays open")
	}
	close(leave)
	waittest.Receive(t, "the slow answer", answered)
	if err := waittest.Receive(t, "the server stops", stopped); err != nil {
		t.Error(err)
	}
}

func TestDrainEnds(t *testing.T) {
	const most = 10 * time.Second
	cases := map[string]struct {
		before int           // requests of 1 s each, one after the other
		idle   time.Duration // from then to the stop
		during int           // requests, the first of which runs at the stop
		want   time.Duration
	}{
		"Unused":  {want: 0},
		"Idle":    {before: 1, idle: 3 * time.Second, want: 0},
		"Lately":  {before: 1, idle: 400 * time.Millisecond, want: 600 * time.Millisecond},
		"Running": {during: 3, want: 4 * time.Second},
		"Busy":    {during: 30, want: most},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &drain{quiet: time.Second}
				h := d.handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) }))
				ask := func(n int) {
					for range n {
						h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil))
					}
				}
				ask(c.before)
				time.Sleep(c.idle)
				var asking sync.WaitGroup
				defer asking.Wait()
				asking.Go(func() { ask(c.during) })
				synctest.Wait()
				began := time.Now()
				d.run(context.Background(), most)
				if got := time.Since(began); got != c.want {
					t.Errorf("the drain took %v, want %v", got, c.want)
				}
			})
		})
	}
}
