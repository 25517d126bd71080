package engineapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/test/waittest"
)

func client(t *testing.T, url string) *engineapi.Client {
	t.Helper()
	c, err := engineapi.New(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func ask(text string) engineapi.Chat {
	return engineapi.Chat{Messages: []openai.Message{{Role: openai.User, Content: text}}}
}

func collect(into *[]string) func(engineapi.Delta) error {
	return func(d engineapi.Delta) error {
		*into = append(*into, d.Text)
		return nil
	}
}

func TestChat(t *testing.T) {
	e := enginetest.Start(t, nil)
	c := client(t, e.URL)
	seed := int64(-3)
	hot := 0.5
	upstream := []string{"seed"}
	cases := map[string]struct {
		chat engineapi.Chat
		want []string
		res  engineapi.Result
	}{
		"Plain":     {ask("a b c"), []string{"a ", "b ", "c"}, engineapi.Result{FinishReason: "stop", Deltas: 3, Honours: upstream}},
		"Unicode":   {ask("жук \u0000\n\"x\""), []string{"жук ", "\u0000\n\"x\""}, engineapi.Result{FinishReason: "stop", Deltas: 2, Honours: upstream}},
		"MaxTokens": {engineapi.Chat{Messages: ask("a b c").Messages, MaxTokens: 2}, []string{"a ", "b "}, engineapi.Result{FinishReason: "length", Deltas: 2, Honours: upstream}},
		"Options":   {engineapi.Chat{Messages: ask("a").Messages, Seed: &seed, Temperature: &hot, TopP: &hot}, []string{"a"}, engineapi.Result{FinishReason: "stop", Deltas: 1, Honours: upstream}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			res, err := c.Do(waittest.Context(t), tc.chat, engineapi.Options{}, collect(&got))
			if err != nil {
				t.Fatal(err)
			}
			// Pieces that arrive together may be delivered together.
			if diff := cmp.Diff(strings.Join(tc.want, ""), strings.Join(got, "")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.res, res); diff != "" {
				t.Error(diff)
			}
		})
	}
	if why := e.Aborted(); why != "" {
		t.Errorf("the engine aborted: %s", why)
	}
}

// The result has the hints and operations that the engine lists.
func TestEngineListsWhatItHonours(t *testing.T) {
	e := enginetest.Start(t, func(enginetest.Request) enginetest.Reply {
		return enginetest.Reply{Pieces: []string{"ok"}, Honours: "temperature, seed"}
	})
	res, err := client(t, e.URL).Do(waittest.Context(t), ask("x"), engineapi.Options{}, func(engineapi.Delta) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"temperature", "seed"}, res.Honours); d != "" {
		t.Error(d)
	}
}

func TestChatSendsLargeRequestsWhole(t *testing.T) {
	e := enginetest.Start(t, func(enginetest.Request) enginetest.Reply { return enginetest.Reply{Pieces: []string{"ok"}} })
	big := strings.Repeat("слово ", 1<<19)
	var got []string
	if _, err := client(t, e.URL).Do(waittest.Context(t), ask(big), engineapi.Options{}, collect(&got)); err != nil {
		t.Fatal(err)
	}
	if reqs := e.Requests(); len(reqs) != 1 || reqs[0].Last() != big {
		t.Error("the engine did not get the message whole")
	}
}

func TestChatFails(t *testing.T) {
	reply := enginetest.Reply{}
	e := enginetest.Start(t, func(enginetest.Request) enginetest.Reply { return reply })
	c := client(t, e.URL)
	var got []string

	reply = enginetest.Reply{Pieces: []string{"a", "b", "c"}, BreakAfter: 2}
	res, err := c.Do(waittest.Context(t), ask("x"), engineapi.Options{}, collect(&got))
	if !fault.Is(err, fault.Transient) || !errors.Is(err, io.ErrUnexpectedEOF) || res.Deltas != 2 {
		t.Errorf("a stream that breaks off: %+v, %v", res, err)
	}

	reply = enginetest.Reply{Status: 400, Code: openai.CodeContextLength}
	_, err = c.Do(waittest.Context(t), ask("x"), engineapi.Options{}, collect(&got))
	var refusal *openai.Error
	if !errors.As(err, &refusal) || refusal.Code != openai.CodeContextLength || !fault.Is(err, fault.Invalid) {
		t.Errorf("a refusal: %v", err)
	}

	gate := make(chan struct{})
	reply = enginetest.Reply{Pieces: []string{"a"}, Gate: gate}
	impatient := engineapi.Options{Timeouts: engineapi.Timeouts{First: 20 * time.Millisecond}}
	if _, err = c.Do(waittest.Context(t), ask("x"), impatient, collect(&got)); !errors.Is(err, engineapi.ErrTimeout) {
		t.Errorf("a silent engine: %v, want %v", err, engineapi.ErrTimeout)
	}

	boom := errors.New("boom")
	reply = enginetest.Reply{Pieces: []string{"a"}, Repeat: true}
	if _, err = c.Do(waittest.Context(t), ask("x"), engineapi.Options{}, func(engineapi.Delta) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("a receiver that gives up: %v", err)
	}
	if _, err = c.Do(waittest.Context(t), engineapi.Chat{}, engineapi.Options{}, nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("no messages: %v, want Invalid", err)
	}
	if why := e.Aborted(); why != "" {
		t.Errorf("the engine aborted: %s", why)
	}
	e.Stop()
	if _, err = c.Do(waittest.Context(t), ask("x"), engineapi.Options{}, collect(&got)); !errors.Is(err, engineapi.ErrLoading) {
		t.Errorf("without a listener: %v, want %v", err, engineapi.ErrLoading)
	}
}

func TestCancelStopsTheEngine(t *testing.T) {
	e := enginetest.Start(t, func(enginetest.Request) enginetest.Reply {
		return enginetest.Reply{Pieces: []string{"a"}, Repeat: true, Every: time.Millisecond}
	})
	c := client(t, e.URL)
	gone := errors.New("the client is gone")
	running, cancel := context.WithCancelCause(waittest.Context(t))
	_, err := c.Do(running, ask("x"), engineapi.Options{}, func(engineapi.Delta) error { cancel(gone); return nil })
	if !errors.Is(err, gone) {
		t.Errorf("cancelled: %v, want the cause", err)
	}
	waittest.Until(t, "the engine stops", func() bool { return !e.Active() })
}

func TestAlive(t *testing.T) {
	e := enginetest.Start(t, nil)
	c := client(t, e.URL)
	if err := c.Alive(waittest.Context(t)); err != nil {
		t.Error(err)
	}
	if why := e.Aborted(); why != "" {
		t.Errorf("the engine aborted: %s", why)
	}
	e.Stop()
	if err := c.Alive(waittest.Context(t)); !errors.Is(err, engineapi.ErrLoading) {
		t.Errorf("without a listener: %v, want %v", err, engineapi.ErrLoading)
	}
}

// A request that is cancelled before it is sent must not leave a connection
// without a request behind, whatever the timing.
func TestCancelledRequestsDoNotAbortTheEngine(t *testing.T) {
	e := enginetest.Start(t, nil)
	c := client(t, e.URL)
	for i := range 200 {
		early, cancel := context.WithCancel(waittest.Context(t))
		switch i % 3 {
		case 0:
			cancel()
		case 1:
			go cancel()
		case 2:
			time.AfterFunc(time.Duration(i)*time.Microsecond, cancel)
		}
		_, _ = c.Do(early, ask("a b c d"), engineapi.Options{}, func(engineapi.Delta) error { return nil })
		cancel()
	}
	c.Close()
	var got []string
	if _, err := c.Do(waittest.Context(t), ask("still here"), engineapi.Options{}, collect(&got)); err != nil {
		t.Fatal(err)
	}
	if why := e.Aborted(); why != "" {
		t.Errorf("the engine aborted: %s", why)
	}
}

func TestOneAtATime(t *testing.T) {
	gate := make(chan struct{})
	e := enginetest.Start(t, func(enginetest.Request) enginetest.Reply {
		return enginetest.Reply{Pieces: []string{"a"}, Gate: gate}
	})
	c := client(t, e.URL)
	done := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := c.Do(waittest.Context(t), ask("x"), engineapi.Options{}, func(engineapi.Delta) error { return nil })
			done <- err
		}()
	}
	for range 2 {
		waittest.Send(t, "a piece passes", gate, struct{}{})
		if err := waittest.Receive(t, "an answer ends", done); err != nil {
			t.Error(err)
		}
	}
}

// The test double must be as fragile as the real engine: otherwise tests with it
// prove nothing.
func TestTheDoubleAborts(t *testing.T) {
	raw := func(text string) func(*enginetest.Engine) {
		return func(e *enginetest.Engine) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(e.URL, "http://"))
			if err != nil {
				return
			}
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, text)
			if text != "" {
				_, _ = io.ReadAll(conn)
			}
		}
	}
	cases := map[string]func(*enginetest.Engine){
		"BareConnect": raw(""),
		"BadJSON":     raw("POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 1\r\n\r\n{"),
		"NullContent": raw("POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 46\r\n\r\n" + `{"messages":[{"role":"user","content":null}]} `),
		"StopString":  raw("POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 14\r\n\r\n" + `{"stop":"abc"}`),
		"Chunked": func(e *enginetest.Engine) {
			resp, err := waittest.Client().Post(e.URL+"/v1/chat/completions", "application/json", io.MultiReader(strings.NewReader("{}")))
			if err == nil {
				_ = resp.Body.Close()
			}
		},
	}
	for name, provoke := range cases {
		t.Run(name, func(t *testing.T) {
			e := enginetest.Start(t, nil)
			provoke(e)
			waittest.Until(t, "the double aborts", func() bool { return e.Aborted() != "" })
		})
	}
}

// The real engine knows one spelling of Content-Length only: with another, it
// ignores a body that arrives after the header, and the chat is empty.
func TestTheDoubleKnowsOneSpelling(t *testing.T) {
	for name, want := range map[string]int{"Content-Length": 1, "content-length": 0} {
		e := enginetest.Start(t, nil)
		conn, err := net.Dial("tcp", strings.TrimPrefix(e.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		body := `{"messages":[{"role":"user","content":"x"}]}`
		_, _ = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\n%s: %d\r\n\r\n", name, len(body))
		if want == 0 { // it answers without waiting for the body
			_, _ = io.ReadAll(conn)
		} else {
			_, _ = io.WriteString(conn, body)
			_, _ = io.ReadAll(conn)
		}
		_ = conn.Close()
		if got := e.Requests(); len(got) != 1 || len(got[0].Messages) != want {
			t.Errorf("%s: the engine saw %+v", name, got)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, url := range []string{"", "127.0.0.1:9990", "https://h:1", "http://", "http://h/path", "http://u:secret@h:1", "http://u:secret%@h:1", "u:secret@h:1", "http://h:1?x=y", ":"} {
		if _, err := engineapi.New(url); !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("New(%q): %v, want Invalid without a password", url, err)
		}
	}
}
