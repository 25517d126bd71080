package gateway

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
)

func TestCORS(t *testing.T) {
	const page, other = "https://chat.example", "https://evil.example"
	w := newWorld(t, func(c *Config, _ *timing) { c.AllowAnonymous, c.Origins = false, []string{page} })
	all := w.another(func(c *Config, _ *timing) { c.Origins = []string{"*"} })
	none := w.another(nil)
	cases := map[string]struct {
		w      *world
		method string
		origin string
		status int
		allow  string
	}{
		"Preflight":      {w, "OPTIONS", page, 204, page},
		"PreflightOther": {w, "OPTIONS", other, 204, ""},
		"PreflightAll":   {all, "OPTIONS", other, 204, other},
		"PreflightNone":  {none, "OPTIONS", page, 405, ""},
		"Get":            {w, "GET", page, 401, page}, // pages can read errors too
		"GetOther":       {w, "GET", other, 401, ""},
		"GetAll":         {all, "GET", other, 200, other},
		"GetNone":        {none, "GET", page, 200, ""},
		"NoOrigin":       {all, "GET", "", 200, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			header := []string{"Origin", c.origin}
			if c.method == "OPTIONS" {
				header = append(header, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,x-stainless-os")
			}
			r, body := c.w.do(c.method, "/v1/models", "", header...)
			h := r.Header
			if r.StatusCode != c.status || h.Get("Access-Control-Allow-Origin") != c.allow {
				t.Fatalf("%d %v %s", r.StatusCode, h, body)
			}
			if h.Get("Access-Control-Allow-Credentials") != "" {
				t.Error("credentials are allowed")
			}
			if c.w != none && h.Get("Vary") != "Origin" {
				t.Errorf("Vary = %q", h.Get("Vary"))
			}
			if c.allow == "" {
				return
			}
			if c.method == "OPTIONS" && (!strings.Contains(h.Get("Access-Control-Allow-Headers"), "x-stainless-os") || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST")) {
				t.Errorf("header = %v", h)
			}
			if !strings.Contains(h.Get("Access-Control-Expose-Headers"), "X-Request-Id") {
				t.Errorf("header = %v", h)
			}
		})
	}
	// Headers that are no names are not repeated.
	r, _ := w.do("OPTIONS", "/v1/models", "", "Origin", page, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "<script>")
	got := r.Header.Get("Access-Control-Allow-Headers")
	if got != corsHeaders {
		t.Errorf("allowed %q", got)
	}
	for _, token := range []string{"Authorization", "X-Api-Key", "X-Auth-Token", "KOLDUN_API_TOKEN"} {
		if !strings.Contains(got, token) {
			t.Errorf("%q lacks %s, which may have a token", got, token)
		}
	}
}

func TestOriginsAreChecked(t *testing.T) {
	for _, bad := range []string{"", "chat.example", "https://*.example", "https://chat.example/", "https://a.example,https://b.example"} {
		err := Run(t.Context(), Config{
			Bus: bus.Config{URL: "nats://127.0.0.1:1"}, Listen: "127.0.0.1:0", Origins: []string{bad}, Logger: slog.New(slog.DiscardHandler),
		})
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := checkOrigins([]string{"*", "http://localhost:3000", "https://chat.example"}); err != nil {
		t.Error(err)
	}
}
