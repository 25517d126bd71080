package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/engine/llama/api"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/test/waittest"
)

// A gate is an engine whose answers begin, and then wait to be let through or
// cancelled.
type gate struct {
	engineFunc // for embeddings

	begun chan struct{}
	ended chan error
	let   chan struct{}
}

func newGate() *gate {
	return &gate{begun: make(chan struct{}, 16), ended: make(chan error, 16), let: make(chan struct{})}
}

func (g *gate) Generate(ctx context.Context, r llama.Request, emit func(llama.Piece) error) (llama.Result, error) {
	if err := emit(llama.Piece{}); err != nil {
		return llama.Result{}, err
	}
	g.begun <- struct{}{}
	select {
	case <-g.let:
		return says(llama.FinishStop, "x")(ctx, r, emit)
	case <-ctx.Done():
		g.ended <- context.Cause(ctx)
		return llama.Result{}, context.Cause(ctx)
	}
}

// start begins a chat request that ends with ctx.
func start(ctx context.Context, tb testing.TB, url, body string) <-chan *http.Response {
	tb.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	out := make(chan *http.Response, 1)
	go func() {
		defer close(out)
		if resp, err := waittest.Client().Do(req); err == nil {
			out <- resp
		}
	}()
	return out
}

func TestClientGoneCancels(t *testing.T) {
	for name, body := range map[string]string{"Whole": hello, "Stream": with(`"stream":true`)} {
		t.Run(name, func(t *testing.T) {
			g := newGate()
			s := serve(t, g, api.Options{})
			ctx, cancel := context.WithCancel(waittest.Context(t))
			done := start(ctx, t, s.URL, body)
			waittest.Receive(t, "the answer begins", g.begun)
			cancel()
			if err := waittest.Receive(t, "the answer ends", g.ended); err == nil {
				t.Error("the answer was not cancelled")
			}
			if resp := waittest.Receive(t, "the client ends", done); resp != nil {
				_ = resp.Body.Close()
			}
		})
	}
}

// TestStreamBegins wants the first event before there is any text.
func TestStreamBegins(t *testing.T) {
	g := newGate()
	s := serve(t, g, api.Options{})
	resp := waittest.Receive(t, "the stream begins", start(waittest.Context(t), t, s.URL, with(`"stream":true`)))
	if resp == nil {
		t.Fatal("no answer")
	}
	defer func() { _ = resp.Body.Close() }()
	r := bufio.NewReader(resp.Body)
	line, err := r.ReadString('\n')
	if err != nil || !strings.Contains(line, `"role":"assistant"`) {
		t.Errorf("first line is %q, err = %v", line, err)
	}
	close(g.let)
	if rest, err := io.ReadAll(r); err != nil || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("rest is %q, err = %v", rest, err)
	}
}

func TestBusy(t *testing.T) {
	g := newGate()
	metrics := api.NewMetrics()
	s := serve(t, g, api.Options{Slots: 2, Waiting: 1, Metrics: metrics})
	var accepted []<-chan *http.Response
	for range 3 {
		accepted = append(accepted, start(waittest.Context(t), t, s.URL, hello))
		waittest.Receive(t, "the answer begins", g.begun)
	}
	resp, body := post(t, s.URL, hello)
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "1" || !strings.Contains(body, "too many requests") {
		t.Errorf("one too many: status %d: %s", resp.StatusCode, body)
	}
	// Nothing else waits behind answers.
	resp, err := waittest.Client().Get(s.URL + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	if read(t, resp); resp.StatusCode != http.StatusOK {
		t.Errorf("models: status %d", resp.StatusCode)
	}
	close(g.let)
	for _, a := range accepted {
		resp := waittest.Receive(t, "an answer", a)
		if resp == nil {
			t.Fatal("no answer")
		}
		if body := read(t, resp); resp.StatusCode != http.StatusOK {
			t.Errorf("status %d: %s", resp.StatusCode, body)
		}
	}
	if resp, body := post(t, s.URL, hello); resp.StatusCode != http.StatusOK {
		t.Errorf("afterwards: status %d: %s", resp.StatusCode, body)
	}
	families, err := metrics.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		if f.GetName() == "koldun_engine_requests_total" {
			for _, m := range f.GetMetric() {
				got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	if got["stop"] != 4 || got["overloaded"] != 1 || len(got) != 2 {
		t.Errorf("counted %v", got)
	}
}

// TestClientThatDoesNotRead must not hold up the engine for ever.
func TestClientThatDoesNotRead(t *testing.T) {
	ended := make(chan error, 1)
	s := serve(t, engineFunc(func(_ context.Context, _ llama.Request, emit func(llama.Piece) error) (llama.Result, error) {
		text := strings.Repeat("x", 1<<20)
		for {
			if err := emit(llama.Piece{Text: text, Tokens: 1}); err != nil {
				ended <- err
				return llama.Result{}, err
			}
		}
	}), api.Options{WriteTimeout: time.Millisecond})
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	body := with(`"stream":true`)
	if _, err := fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		t.Fatal(err)
	}
	if err := waittest.Receive(t, "the answer ends", ended); !fault.Is(err, fault.Interrupted) {
		t.Errorf("err = %v", err)
	}
}

// TestUnfinishedBody gives up a request in the middle of its body.
func TestUnfinishedBody(t *testing.T) {
	s := serve(t, engineFunc(func(context.Context, llama.Request, func(llama.Piece) error) (llama.Result, error) {
		t.Error("the engine was asked")
		return llama.Result{}, nil
	}), api.Options{})
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(waittest.Context(t))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/chat/completions", r)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if resp, err := waittest.Client().Do(req); err == nil {
			_ = resp.Body.Close()
		}
	})
	_, _ = w.Write([]byte(`{"messages":[`))
	cancel()
	_ = w.Close()
	waittest.Returns(t, "the client ends", wg.Wait)
}
