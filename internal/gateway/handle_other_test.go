package gateway

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/waittest"
)

// TestRefusals sends what is wrong in some way; no runner ever sees it.
func TestRefusals(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *pace) { c.MaxBodyBytes = 1000 })
	cases := map[string]struct {
		method, path, body string
		header             []string
		status             int
		code, param        string
	}{
		"Unknown":          {"GET", "/", "", nil, 404, "unknown_url", ""},
		"UnknownEndpoint":  {"POST", "/v1/embeddings", "{}", nil, 404, "unknown_url", ""},
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
				t.Errorf("tells internals: %s", body)
			}
		})
	}
}

// TestBodyOfUnknownLength is read up to the limit only, in chunks as it comes.
func TestBodyOfUnknownLength(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *pace) { c.MaxBodyBytes = 1000 })
	body := io.MultiReader(strings.NewReader(chatBody(`,"user":"` + strings.Repeat("x", 1000) + `"`)))
	request, err := http.NewRequestWithContext(waittest.Context(t), http.MethodPost, w.url+"/v1/chat/completions", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if e := decodeError(t, string(text)); r.StatusCode != http.StatusRequestEntityTooLarge || e.Code != "request_too_large" {
		t.Errorf("got %d %s", r.StatusCode, text)
	}
}

// TestTooLargeIsNotSent: a client that asks first, as curl does, need not send
// what nobody will read.
func TestTooLargeIsNotSent(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *pace) { c.MaxBodyBytes = 1000 })
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(waittest.Patience)); err != nil {
		t.Fatal(err)
	}
	const head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n"
	if _, err := io.WriteString(c, head); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || !strings.Contains(line, " 413 ") {
		t.Errorf("the first line is %q, %v; want 413", line, err)
	}
}

func TestModels(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *pace) { c.Namespace = "team" })
	w.putModel("team", "large")
	waittest.Until(t, "the model is known", func() bool { _, ok := w.gateway.models.Get("model/team/large"); return ok })

	const tiny = `{"id":"default/tiny","object":"model","created":1767323045,"owned_by":"koldun"}`
	const large = `{"id":"team/large","object":"model","created":1767323045,"owned_by":"koldun"}`
	cases := map[string]struct{ path, want string }{
		"List":          {"/v1/models", `{"object":"list","data":[` + tiny + "," + large + `]}`},
		"Slash":         {"/v1/models/", `{"object":"list","data":[` + tiny + "," + large + `]}`},
		"Full":          {"/v1/models/default/tiny", tiny},
		"Escaped":       {"/v1/models/default%2Ftiny", tiny},
		"BareOwn":       {"/v1/models/large", large},
		"FullOwn":       {"/v1/models/team/large", large},
		"QueryIsNoPath": {"/v1/models/team/large?x=1", large},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, body := w.do("GET", c.path, "")
			if r.StatusCode != http.StatusOK || strings.TrimSpace(body) != c.want {
				t.Errorf("got %d %s\nwant %s", r.StatusCode, body, c.want)
			}
		})
	}
	if r, _ := w.do("GET", "/v1/models/tiny", ""); r.StatusCode != http.StatusNotFound {
		t.Errorf("a bare name of another namespace: %d", r.StatusCode)
	}
	if r, body := w.do("HEAD", "/v1/models", ""); r.StatusCode != http.StatusOK || body != "" {
		t.Errorf("HEAD: %d %q", r.StatusCode, body)
	}
}
