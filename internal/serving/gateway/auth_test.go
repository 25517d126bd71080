package gateway

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/waittest"
)

func TestTokens(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.AllowAnonymous = false })
	w.putModel("default", "other")
	waittest.Until(t, "the model is known", func() bool { _, ok := w.gateway.models.Get("model/default/other"); return ok })
	startRunner(t, w.bus, tinySession, replies("hi"))
	w.putToken(registry.Token{SHA256: digest("good-token-of-a-test")})
	w.putToken(registry.Token{SHA256: digest("disabled-token-of-a-test"), Disabled: true})
	w.putToken(registry.Token{SHA256: digest("expired-token-of-a-test"), Expires: time.Now().Add(-time.Second)})
	w.putToken(registry.Token{SHA256: digest("narrow-token-of-a-test"), Models: []string{"default/tiny"}})

	w.putToken(registry.Token{SHA256: digest("test")}) // a hash does not tell its token's length

	cases := map[string]struct {
		header []string
		status int
	}{
		"None":        {nil, 401},
		"Bearer":      {[]string{"Authorization", "Bearer good-token-of-a-test"}, 200},
		"LowerCase":   {[]string{"Authorization", "bearer  good-token-of-a-test "}, 200},
		"APIKey":      {[]string{"X-Api-Key", "good-token-of-a-test"}, 200},
		"TokenScheme": {[]string{"Authorization", "Token good-token-of-a-test"}, 200},
		"AuthToken":   {[]string{"X-Auth-Token", "good-token-of-a-test"}, 200},
		"KoldunToken": {[]string{"KOLDUN_API_TOKEN", "good-token-of-a-test"}, 200},
		"BadToken":    {[]string{"KOLDUN_API_TOKEN", "bad"}, 401},
		"BearerFirst": {[]string{"Authorization", "Bearer bad", "X-Auth-Token", "good-token-of-a-test"}, 401},
		"Basic":       {[]string{"Authorization", "Basic good-token-of-a-test"}, 401},
		"Bare":        {[]string{"Authorization", "good-token-of-a-test"}, 401},
		"EmptyBearer": {[]string{"Authorization", "Bearer "}, 401},
		"Unknown":     {[]string{"Authorization", "Bearer bad"}, 401},
		"HashOfAWord": {[]string{"Authorization", "Bearer test"}, 401},
		"PassTheHash": {[]string{"Authorization", "Bearer " + digest("good-token-of-a-test")}, 401},
		"Disabled":    {[]string{"Authorization", "Bearer disabled-token-of-a-test"}, 401},
		"Expired":     {[]string{"Authorization", "Bearer expired-token-of-a-test"}, 401},
		"Narrow":      {[]string{"Authorization", "Bearer narrow-token-of-a-test"}, 200},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, try := range []struct{ method, path, body string }{
				{"GET", "/v1/models", ""}, {"GET", "/v1/models/tiny", ""}, {"POST", "/v1/chat/completions", chatBody("")},
			} {
				r, body := w.do(try.method, try.path, try.body, c.header...)
				if r.StatusCode != c.status {
					t.Errorf("%s: status %d, want %d: %s", try.path, r.StatusCode, c.status, body)
				}
				if c.status != 401 {
					continue
				}
				if e := decodeError(t, body); e.Code != openai.CodeInvalidKey || r.Header.Get("WWW-Authenticate") == "" {
					t.Errorf("%s: got %+v, %v", try.path, e, r.Header)
				}
			}
		})
	}

	t.Run("WhereAnybodyMay", func(t *testing.T) {
		open := w.another(nil)
		for token, status := range map[string]int{"": 200, "unknown": 200, "test": 200, "good-token-of-a-test": 200, "disabled-token-of-a-test": 401, "expired-token-of-a-test": 401} {
			if r, body := open.do("GET", "/v1/models", "", "X-Api-Key", token); r.StatusCode != status {
				t.Errorf("token %q: status %d, want %d: %s", token, r.StatusCode, status, body)
			}
		}
	})

	t.Run("AllowList", func(t *testing.T) {
		if _, body := w.do("GET", "/v1/models", "", "X-Api-Key", "narrow-token-of-a-test"); strings.Contains(body, "other") {
			t.Errorf("the list shows models that the token may not use: %s", body)
		}
		for _, model := range []string{"other", "nope"} { // there, and not there
			r, body := w.do("POST", "/v1/chat/completions", strings.Replace(chatBody(""), "tiny", model, 1), "X-Api-Key", "narrow-token-of-a-test")
			if e := decodeError(t, body); r.StatusCode != http.StatusForbidden || e.Code != "model_not_allowed" {
				t.Errorf("%s: %d %+v", model, r.StatusCode, e)
			}
		}
	})

	t.Run("DisabledWhileInUse", func(t *testing.T) {
		soon(t, func() time.Duration {
			w.putToken(registry.Token{SHA256: digest("good-token-of-a-test")})
			begun := time.Now()
			if _, err := registry.Tokens(w.bus).Put(t.Context(), registry.Token{SHA256: digest("good-token-of-a-test")}.Key(),
				registry.Token{SHA256: digest("good-token-of-a-test"), Disabled: true}); err != nil {
				t.Fatal(err)
			}
			waittest.Until(t, "the token is refused", func() bool {
				r, _ := w.do("GET", "/v1/models", "", "X-Api-Key", "good-token-of-a-test")
				return r.StatusCode == http.StatusUnauthorized
			})
			return time.Since(begun)
		})
	})

	t.Run("DeletedWhileInUse", func(t *testing.T) {
		if err := registry.Tokens(w.bus).Delete(t.Context(), registry.Token{SHA256: digest("narrow-token-of-a-test")}.Key(), 0); err != nil {
			t.Fatal(err)
		}
		waittest.Until(t, "the token is refused", func() bool {
			r, _ := w.do("GET", "/v1/models", "", "X-Api-Key", "narrow-token-of-a-test")
			return r.StatusCode == http.StatusUnauthorized
		})
	})
}

func TestTenants(t *testing.T) {
	w := newWorld(t, nil) // anonymous is allowed
	w.putToken(registry.Token{SHA256: digest("good-token-of-a-test")})
	w.putToken(registry.Token{SHA256: digest("disabled-token-of-a-test"), Disabled: true})
	for _, guest := range []string{"guest-token-of-a-test", "other-guest-token-of-a-test"} {
		w.putToken(registry.Token{SHA256: digest(guest), Tenant: "shop"})
	}
	shared := names.Hash(16, "tenant", "", "shop")
	r := startRunner(t, w.bus, tinySession, replies("hi"))
	cases := map[string]struct{ token, tenant string }{
		"Anonymous": {"", "anonymous"},
		"AnyKey":    {"sk-whatever", "anonymous"},
		"Known":     {"good-token-of-a-test", digest("good-token-of-a-test")[:16]},
		"Shared":    {"guest-token-of-a-test", shared},
		"SharedToo": {"other-guest-token-of-a-test", shared},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			response, body := w.do("POST", "/v1/chat/completions", chatBody(""), "X-Api-Key", c.token)
			if response.StatusCode != http.StatusOK {
				t.Fatalf("%d %s", response.StatusCode, body)
			}
			for _, q := range r.seen() {
				if q.ID == response.Header.Get("X-Request-Id") && q.Tenant != c.tenant {
					t.Errorf("tenant = %q, want %q", q.Tenant, c.tenant)
				}
			}
		})
	}
	if r, _ := w.do("GET", "/v1/models", "", "X-Api-Key", "disabled-token-of-a-test"); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("a disabled token passes as anonymous: %d", r.StatusCode)
	}
}
