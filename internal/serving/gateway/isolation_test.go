package gateway

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/waittest"
)

// TestIsolation sends requests by different callers and checks their pools.
func TestIsolation(t *testing.T) {
	const chat = "/v1/chat/completions"
	cases := map[string]struct {
		isolation Isolation
		ask       func(*world) // two requests by different callers or conversations
		pools     int          // isolated ones
	}{
		"Model": {IsolateModel, func(w *world) {
			w.do("POST", chat, chatBody(""), "X-Api-Key", "a-token-of-a-test")
			w.do("POST", chat, chatBody(""), "X-Api-Key", "b-token-of-a-test", "X-Koldun-Conversation", "mine")
		}, 0},
		"Token": {IsolateToken, func(w *world) {
			w.do("POST", chat, chatBody(""), "X-Api-Key", "a-token-of-a-test")
			w.do("POST", chat, chatBody(""), "X-Api-Key", "a-token-of-a-test", "X-Koldun-Conversation", "mine")
			w.do("POST", chat, chatBody(""), "X-Api-Key", "b-token-of-a-test")
		}, 2},
		"Conversation": {IsolateConversation, func(w *world) {
			w.do("POST", chat, chatBody(""), "X-Api-Key", "a-token-of-a-test", "X-Koldun-Conversation", "1")
			w.do("POST", chat, strings.Replace(chatBody(""), "hello", "later", 1), "X-Api-Key", "a-token-of-a-test", "X-Koldun-Conversation", "1")
			w.do("POST", chat, chatBody(""), "X-Api-Key", "a-token-of-a-test", "X-Koldun-Conversation", "2")
		}, 2},
		"Prefix": {IsolateConversation, func(w *world) {
			w.do("POST", chat, chatBody(""), "X-Api-Key", "a-token-of-a-test")
			w.do("POST", chat, chatBody(""), "X-Api-Key", "a-token-of-a-test")
			w.do("POST", chat, chatBody(""), "X-Api-Key", "b-token-of-a-test")
		}, 2},
		"Strangers": {IsolateConversation, func(w *world) {
			for i := range 3 {
				n := fmt.Sprint(i)
				w.do("POST", chat, chatBody(""), "X-Koldun-Conversation", n, "X-Forwarded-For", n, "User-Agent", n, "X-Api-Key", n)
			}
		}, 0},
		"Many": {IsolateConversation, func(w *world) {
			for i := range 6 {
				w.do("POST", chat, chatBody(""), "X-Api-Key", "a-token-of-a-test", "X-Koldun-Conversation", fmt.Sprint(i))
			}
		}, 3},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(cfg *Config, _ *timing) { cfg.Isolation, cfg.MaxSessions = c.isolation, 3 })
			w.putToken(registry.Token{SHA256: digest("a-token-of-a-test")})
			w.putToken(registry.Token{SHA256: digest("b-token-of-a-test")})
			ended := make(chan bool)
			go func() { defer close(ended); c.ask(w) }()
			// A runner answers the requests of every pool.
			served := map[string]bool{}
			for done := false; !done; {
				select {
				case <-ended:
					done = true
				case <-time.After(2 * time.Millisecond):
				}
				for session := range demanded(t, w) {
					if !served[session] {
						served[session] = true
						startRunner(t, w.bus, session, replies("x"))
					}
				}
			}
			own := 0
			for session := range served {
				if !names.SessionOf(session, tinySession) {
					t.Errorf("unexpected session %q", session)
				}
				if session != tinySession {
					own++
				}
			}
			if own != c.pools {
				t.Errorf("%d pools, want %d: %v", own, c.pools, served)
			}
		})
	}
}

// An alias has no Model from which demand could create a pool: its members serve all
// callers, and the answer names the one that did.
func TestAliasNeedsNoPool(t *testing.T) {
	w := newWorld(t, func(cfg *Config, p *timing) {
		cfg.Isolation = IsolateToken
		p.quiet = time.Hour // the headers of a stream that starts later name no member
	})
	w.putToken(registry.Token{SHA256: digest("a-token-of-a-test")})
	m := registry.Model{Namespace: "default", Name: "both", Alias: true, Members: queue.Members{Members: map[string]queue.Member{"canary": {Weight: 1}}}}
	if _, err := registry.Models(w.bus).Put(t.Context(), m.Key(), m); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the gateway knows the alias", func() bool { _, ok := w.gateway.models.Get(m.Key()); return ok })
	startRunner(t, w.bus, names.Session("default", "both", ""), func(_ context.Context, r *responder) {
		r.send(queue.Frame{Kind: queue.FrameStarted, Member: "canary"})
		r.text("x")
		r.end("stop", 1, 1)
	})
	for name, more := range map[string]string{"Whole": "", "Streamed": `,"stream":true`} {
		response, answer := w.do("POST", "/v1/chat/completions", strings.Replace(chatBody(more), "tiny", "both", 1), "X-Api-Key", "a-token-of-a-test")
		if got := response.Header.Get("X-Koldun-Member"); response.StatusCode != http.StatusOK || got != "canary" || !strings.Contains(answer, "default/both") {
			t.Errorf("%s: %s from %q: %s", name, response.Status, got, answer)
		}
	}
	if _, list := w.do("GET", "/v1/models", "", "X-Api-Key", "a-token-of-a-test"); !strings.Contains(list, `"default/both"`) {
		t.Errorf("the alias is not listed: %s", list)
	}
	if d := demanded(t, w); len(d) > 0 {
		t.Errorf("there is demand for %v", d)
	}
}

func demanded(t *testing.T, w *world) map[string]bool {
	t.Helper()
	list, err := registry.Demands(w.bus).List(t.Context(), "*")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, d := range list {
		out[d.Value.Session] = true
	}
	return out
}

func TestParseWords(t *testing.T) {
	for in, want := range map[string]Isolation{"": IsolateModel, "model": IsolateModel, "token": IsolateToken, "conversation": IsolateConversation} {
		if got, err := ParseIsolation(in); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	if _, err := ParseIsolation("user"); err == nil {
		t.Error("an unknown isolation is accepted")
	}
	if got, err := ParseReasoning(""); err != nil || got != openai.ReasoningSeparate {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := ParseReasoning("loud"); err == nil {
		t.Error("an unknown word is accepted")
	}
}

func TestConversation(t *testing.T) {
	user := func(s string) openai.Message { return openai.Message{Role: openai.User, Content: s} }
	bot := func(s string) openai.Message { return openai.Message{Role: openai.Assistant, Content: s} }
	var g Gateway
	first := g.conversation("a", "", []openai.Message{user("hi")})
	cases := map[string]struct {
		tenant, explicit string
		messages         []openai.Message
		same             bool
	}{
		"Same":        {"a", "", []openai.Message{user("hi")}, true},
		"NextTurn":    {"a", "", []openai.Message{user("hi"), bot("hello"), user("more")}, true},
		"OtherTenant": {"b", "", []openai.Message{user("hi")}, false},
		"OtherStart":  {"a", "", []openai.Message{user("ho")}, false},
		"Explicit":    {"a", "hi", []openai.Message{user("hi")}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := g.conversation(c.tenant, c.explicit, c.messages) == first; got != c.same {
				t.Errorf("same = %t, want %t", got, c.same)
			}
		})
	}
}
