package gateway

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/gateway/limits"
)

// TestRefusals sends invalid requests, which never reach a runner.
func TestRefusals(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.MaxBodyBytes = 1000 })
	cases := map[string]struct {
		method, path, body string
		header             []string
		status             int
		code, param        string
	}{
		"Unknown":          {"GET", "/", "", nil, 404, "unknown_url", ""},
		"UnknownEndpoint":  {"POST", "/v1/rerank", "{}", nil, 404, "unknown_url", ""},
		"ChatByGet":        {"GET", "/v1/chat/completions", "", nil, 405, "method_not_allowed", ""},
		"ModelsByPost":     {"POST", "/v1/models", "{}", nil, 405, "method_not_allowed", ""},
		"DeleteModel":      {"DELETE", "/v1/models/default/tiny", "", nil, 405, "method_not_allowed", ""},
		"NoModel":          {"GET", "/v1/models/nope", "", nil, 404, openai.CodeModelNotFound, "model"},
		"NoModelElsewhere": {"GET", "/v1/models/other/tiny", "", nil, 404, openai.CodeModelNotFound, "model"},
		"OddModel":         {"GET", "/v1/models/a/b/c%00%ff", "", nil, 404, openai.CodeModelNotFound, "model"},
		"ChatNoModel":      {"POST", "/v1/chat/completions", strings.Replace(chatBody(""), "tiny", "nope", 1), nil, 404, openai.CodeModelNotFound, "model"},
		"Empty":            {"POST", "/v1/chat/completions", "", []string{"Content-Type", "application/json"}, 400, openai.CodeInvalidJSON, ""},
		"NotJSON":          {"POST", "/v1/chat/completions", "hello", nil, 400, openai.CodeInvalidJSON, ""},
		"ForeignPage":      {"POST", "/v1/chat/completions", chatBody(""), []string{"Content-Type", "text/plain", "Origin", "https://evil.example"}, 415, "unsupported_media_type", ""},
		"ForeignPageNew":   {"POST", "/v1/chat/completions", chatBody(""), []string{"Content-Type", "", "Sec-Fetch-Site", "cross-site"}, 415, "unsupported_media_type", ""},
		"Form":             {"POST", "/v1/chat/completions", "a=b", []string{"Content-Type", "application/x-www-form-urlencoded"}, 400, openai.CodeInvalidJSON, ""},
		"BadParameter":     {"POST", "/v1/chat/completions", chatBody(`,"temperature":"hot"`), nil, 400, openai.CodeInvalidType, "temperature"},
		"Tools":            {"POST", "/v1/chat/completions", chatBody(`,"tools":[{"type":"function"}]`), nil, 400, openai.CodeUnsupported, "tools"},
		"TooLarge":         {"POST", "/v1/chat/completions", chatBody(`,"user":"` + strings.Repeat("x", 1000) + `"`), nil, 413, "request_too_large", ""},
	}
	w.putEngine("r1", "seed")
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, body := w.do(c.method, c.path, c.body, c.header...)
			if r.StatusCode != c.status {
				t.Fatalf("status %d, want %d: %s", r.StatusCode, c.status, body)
			}
			e := decodeError(t, body)
			if e.Code != c.code || e.Param != c.param || e.Type == "" {
				t.Errorf("got %+v, want code %q param %q", e, c.code, c.param)
			}
			if !strings.HasPrefix(r.Header.Get("X-Request-Id"), "req_") || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("header = %v", r.Header)
			}
			if c.status == http.StatusMethodNotAllowed && r.Header.Get("Allow") == "" {
				t.Error("no Allow header")
			}
			if strings.Contains(body, "nats") || strings.Contains(body, "koldun.v1") {
				t.Errorf("answer contains internals: %s", body)
			}
		})
	}
}

// TestRefusalsOfLimits wants a status, a hint and a label for each limit.
func TestRefusalsOfLimits(t *testing.T) {
	for limit, c := range map[limits.Limit]struct {
		status int
		code   string
		retry  time.Duration
	}{
		limits.Choices:      {http.StatusBadRequest, openai.CodeInvalidValue, 0},
		limits.Requests:     {http.StatusTooManyRequests, openai.CodeRateLimitExceeded, time.Minute},
		limits.Tokens:       {http.StatusTooManyRequests, openai.CodeRateLimitExceeded, time.Minute},
		limits.Concurrency:  {http.StatusTooManyRequests, openai.CodeRateLimitExceeded, concurrentRetry},
		limits.TenantQueue:  {http.StatusTooManyRequests, openai.CodeRateLimitExceeded, 15 * time.Second},
		limits.SessionQueue: {http.StatusTooManyRequests, openai.CodeRateLimitExceeded, 15 * time.Second},
	} {
		refused := errLimit(&limits.Reached{Limit: limit, Most: 1, Wait: time.Minute})
		if refused.limit != limit || refused.Status != c.status || refused.Code != c.code || refused.retryAfter != c.retry {
			t.Errorf("%s: %+v", limit, refused)
		}
	}
	if refused := errTooManySockets(); refused.Status != http.StatusTooManyRequests {
		t.Errorf("too many connections: %+v", refused)
	}
}
