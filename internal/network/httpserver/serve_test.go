package httpserver

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/test/waittest"
)

func start(t *testing.T, h http.Handler, o Options) (url string, stop func() error) {
	t.Helper()
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, h, o) }()
	stop = func() error {
		cancel()
		return waittest.Receive(t, "the server stops", done)
	}
	return "http://" + l.Addr().String(), stop
}

func TestServeLetsRequestsFinish(t *testing.T) {
	entered, leave := make(chan bool), make(chan bool)
	url, stop := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-leave
		_, _ = io.WriteString(w, "done")
	}), Options{Name: "api"})

	body := make(chan string, 1)
	go func() {
		r, err := waittest.Client().Get(url)
		if err != nil {
			body <- err.Error()
			return
		}
		defer func() { _ = r.Body.Close() }()
		b, _ := io.ReadAll(r.Body)
		body <- string(b)
	}()
	waittest.Receive(t, "the request comes", entered)
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	close(leave)
	if got := waittest.Receive(t, "the answer", body); got != "done" {
		t.Errorf("body = %q", got)
	}
	if err := waittest.Receive(t, "the server stops", stopped); err != nil {
		t.Error(err)
	}
}

func TestServeEndsRequestsAfterTheGrace(t *testing.T) {
	entered := make(chan bool)
	cause := make(chan error, 1)
	url, stop := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
		cause <- context.Cause(r.Context())
	}), Options{Grace: time.Millisecond})
	go func() {
		if r, err := waittest.Client().Get(url); err == nil {
			_ = r.Body.Close()
		}
	}()
	waittest.Receive(t, "the request comes", entered)
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := waittest.Receive(t, "the request ends", cause); !errors.Is(err, ErrShutdown) {
		t.Errorf("cause = %v, want ErrShutdown", err)
	}
}

func TestServeCutsHandlersThatHang(t *testing.T) {
	entered, leave := make(chan bool), make(chan bool)
	url, stop := start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-leave
	}), Options{Grace: time.Millisecond})
	defer close(leave)
	go func() {
		if r, err := waittest.Client().Get(url); err == nil {
			_ = r.Body.Close()
		}
	}()
	waittest.Receive(t, "the request comes", entered)
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestServeReportsABrokenListener(t *testing.T) {
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := Serve(t.Context(), l, http.NotFoundHandler(), Options{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("err = %v, want net.ErrClosed", err)
	}
}

func TestListenNamesThePortInUse(t *testing.T) {
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, err = Listen(t.Context(), l.Addr().String())
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("err = %v", err)
	}
	if _, err = Listen(t.Context(), "nonsense"); !fault.Is(err, fault.Invalid) {
		t.Errorf("err = %v", err)
	}
}
