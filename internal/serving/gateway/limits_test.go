package gateway

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/gorizond/koldun/internal/serving/gateway/limits"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/waittest"
)

func TestRequestsPerMinute(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.Limits.RequestsPerMinute = 2 })
	startRunner(t, w.bus, tinySession, replies("x"))
	w.putToken(registry.Token{SHA256: digest("more-token-of-a-test"), Limits: registry.Limits{RequestsPerMinute: 3}})
	for token, most := range map[string]int{"": 2, "more-token-of-a-test": 3} {
		for i := range most {
			r, body := w.do("POST", "/v1/chat/completions", chatBody(""), "X-Api-Key", token)
			if left := r.Header.Get("X-Ratelimit-Remaining-Requests"); r.StatusCode != http.StatusOK || left != strconv.Itoa(most-1-i) {
				t.Fatalf("token %q, request %d: %d, %q left: %s", token, i, r.StatusCode, left, body)
			}
		}
		// An invalid request is refused as such, and does not count.
		if r, _ := w.do("POST", "/v1/chat/completions", chatBody(`,"n":0`), "X-Api-Key", token); r.StatusCode != http.StatusBadRequest {
			t.Errorf("status %d", r.StatusCode)
		}
		r, body := w.do("POST", "/v1/chat/completions", chatBody(""), "X-Api-Key", token)
		e := decodeError(t, body)
		seconds, err := strconv.Atoi(r.Header.Get("Retry-After"))
		if r.StatusCode != http.StatusTooManyRequests || e.Code != "rate_limit_exceeded" || e.Type != "rate_limit_error" || err != nil || seconds < 1 || seconds > 60 {
			t.Errorf("token %q: %d %s, retry after %d s, %v", token, r.StatusCode, body, seconds, err)
		}
		if got := r.Header.Get("X-Ratelimit-Limit-Requests"); got != strconv.Itoa(most) {
			t.Errorf("limit %q", got)
		}
	}
	if r, _ := w.do("GET", "/v1/models", ""); r.StatusCode != http.StatusOK {
		t.Errorf("models: %d", r.StatusCode)
	}
	// The official client understands the refusal.
	client := w.client()
	_, err := client.Chat.Completions.New(waittest.Context(t), question("tiny"))
	wantAPIError(t, err, 429, "rate_limit_exceeded", "")
	var e *openai.Error
	if errors.As(err, &e) && e.Response.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestTokensPerMinute(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.Limits.TokensPerMinute = 30 })
	startRunner(t, w.bus, tinySession, func(_ context.Context, s *responder) {
		s.started()
		s.text("x")
		s.end("stop", 20, 10)
	})
	if r, body := w.do("POST", "/v1/chat/completions", chatBody("")); r.StatusCode != http.StatusOK || r.Header.Get("X-Ratelimit-Limit-Tokens") != "30" {
		t.Fatalf("%d %v %s", r.StatusCode, r.Header, body)
	}
	waittest.Until(t, "the tokens are counted", func() bool {
		r, _ := w.do("POST", "/v1/chat/completions", chatBody(""))
		return r.StatusCode == http.StatusTooManyRequests && r.Header.Get("X-Ratelimit-Remaining-Tokens") == "0"
	})
}

// TestLimitsOfTwoGateways checks that each gateway counts the requests of the other.
func TestLimitsOfTwoGateways(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.Limits.ConcurrentRequests = 1 })
	other := w.another(func(c *Config, _ *timing) { c.Limits.ConcurrentRequests = 1 })
	release := make(chan bool)
	startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		s.started()
		s.text("x")
		if s.chat.Messages[0].Content == "held" {
			await(ctx, release)
		}
		s.end("stop", 1, 1)
	})
	held := w.open(waittest.Context(t), strings.Replace(chatBody(streaming), "hello", "held", 1))
	if held.StatusCode != http.StatusOK {
		t.Fatal(held.Status)
	}
	waittest.Until(t, "the other gateway counts it", func() bool {
		permit, _, reached := other.gateway.usage.Admit(limits.Admission{Tenant: anonymous, Limits: registry.Limits{ConcurrentRequests: 1}}, time.Now())
		permit.End(0, time.Now())
		return reached != nil && reached.Limit == limits.Concurrency
	})
	for name, g := range map[string]*world{"same": w, "other": other} {
		var r *http.Response
		var body string
		// On a busy machine a gateway may be silent for long, and counts as stopped.
		waittest.Until(t, name+" refuses", func() bool {
			r, body = g.do("POST", "/v1/chat/completions", chatBody(""))
			return r.StatusCode == http.StatusTooManyRequests
		})
		if e := decodeError(t, body); r.Header.Get("Retry-After") != "2" || e.Code != "rate_limit_exceeded" {
			t.Errorf("%s: %v %s", name, r.Header, body)
		}
	}
	close(release)
	waittest.Until(t, "both accept requests again", func() bool {
		for _, g := range []*world{w, other} {
			if r, _ := g.do("POST", "/v1/chat/completions", chatBody("")); r.StatusCode != http.StatusOK {
				return false
			}
		}
		return true
	})
}

func TestStrictParameters(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.StrictParameters = true })
	startRunner(t, w.bus, tinySession, replies("x"))
	w.putEngine("r1", "seed") // as dllama-api
	cases := map[string]struct {
		more   string
		status int
		param  string
	}{
		"Plain":     {`,"seed":1,"metadata":{}`, 200, ""},
		"Engine":    {`,"temperature":0.5,"seed":1`, 400, "temperature"},
		"Engines":   {`,"temperature":0.5,"top_p":0.5,"top_k":1`, 400, "top_k"},
		"Neutral":   {`,"frequency_penalty":0,"logit_bias":{}`, 200, ""},
		"Hint":      {`,"frequency_penalty":1`, 400, "frequency_penalty"},
		"Unknown":   {`,"top_k":1`, 400, "top_k"},
		"Several":   {`,"top_k":1,"logit_bias":{"1":1}`, 400, "logit_bias"},
		"Odd":       {`,"a\nb":1`, 400, "a\nb"},
		"Reasoning": {`,"include_reasoning":true`, 200, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for path, body := range map[string]string{
				"/v1/chat/completions": chatBody(c.more), "/v1/completions": `{"model":"tiny","prompt":"x"` + c.more + `}`,
			} {
				r, answer := w.do("POST", path, body)
				if name == "Reasoning" && path == "/v1/completions" {
					continue // it has no field for reasoning
				}
				if r.StatusCode != c.status || r.Header.Get("X-Koldun-Ignored") != "" {
					t.Fatalf("%s: %d %s", path, r.StatusCode, answer)
				}
				if c.status == http.StatusOK {
					continue
				}
				if e := decodeError(t, answer); e.Param != c.param || e.Code != "unsupported_parameter" {
					t.Errorf("%s: got %+v", path, e)
				}
			}
		})
	}
}
