package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/waittest"
)

// TestForeignNamespaces checks that a gateway serves the models and accepts the
// tokens of its own and of the configured namespaces only. It lists no others and
// queues nothing for them.
func TestForeignNamespaces(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.Namespace, c.AllowAnonymous = "team", false })
	listed := w.another(func(c *Config, _ *timing) {
		c.Namespace, c.Namespaces, c.AllowAnonymous = "team", []string{"default"}, false
	})
	w.putModel("team", "large")
	own := registry.Token{SHA256: digest("own-token-of-a-test"), Namespace: "team"}
	foreign := registry.Token{SHA256: digest("foreign-token-of-a-test"), Namespace: "default", Metadata: map[string]string{"priority": "high"}}
	platform := registry.Token{SHA256: digest("platform-token-of-a-test")}
	for _, world := range []*world{w, listed} {
		for _, token := range []registry.Token{own, foreign, platform} {
			world.putToken(token)
		}
		waittest.Until(t, "the models are known", func() bool {
			_, tiny := world.gateway.models.Get("model/default/tiny")
			_, large := world.gateway.models.Get("model/team/large")
			return tiny && large
		})
	}
	ask := func(model string) string { return strings.Replace(chatBody(""), "tiny", model, 1) }
	const models, chat = "/v1/models", "/v1/chat/completions"
	cases := map[string]struct {
		w            *world
		token        string
		method, path string
		body         string
		status       int
		want, never  string // in the answer
	}{
		"List":            {w, "own", "GET", models, "", 200, "team/large", "tiny"},
		"ListOfPlatform":  {w, "platform", "GET", models, "", 200, "team/large", "tiny"},
		"Model":           {w, "own", "GET", models + "/default/tiny", "", 404, "model_not_found", ""},
		"Chat":            {w, "own", "POST", chat, ask("default/tiny"), 404, "model_not_found", ""},
		"Completion":      {w, "own", "POST", "/v1/completions", `{"model":"default/tiny","prompt":"x"}`, 404, "model_not_found", ""},
		"ForeignToken":    {w, "foreign", "GET", models, "", 401, "invalid_api_key", "tiny"},
		"ForeignTokenAsk": {w, "foreign", "POST", chat, ask("team/large"), 401, "invalid_api_key", ""},

		"ListWhenListed":         {listed, "own", "GET", models, "", 200, "default/tiny", "!"},
		"ModelWhenListed":        {listed, "own", "GET", models + "/default/tiny", "", 200, "default/tiny", "!"},
		"ForeignTokenWhenListed": {listed, "foreign", "GET", models, "", 200, "team/large", "!"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, body := c.w.do(c.method, c.path, c.body, "Authorization", "Bearer "+c.token+"-token-of-a-test")
			if r.StatusCode != c.status || !strings.Contains(body, c.want) || c.never != "" && strings.Contains(body, c.never) {
				t.Errorf("%d %s, want %d with %q and without %q", r.StatusCode, body, c.status, c.want, c.never)
			}
		})
	}

	// A gateway with anonymous access ignores a foreign token, with its limits and
	// priority.
	open := w.another(func(c *Config, _ *timing) { c.Namespace, c.AllowAnonymous = "team", true })
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, open.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer foreign-token-of-a-test")
	if who, refused := open.gateway.authenticate(request, modelTime); refused != nil || who.token != nil || who.tenant != anonymous {
		t.Errorf("foreign token: got %+v, %+v; want an anonymous caller", who, refused)
	}
}
