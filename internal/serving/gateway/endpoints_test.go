package gateway

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestEveryEndpointIsRouted checks that the table of endpoints determines the
// routes, the allowed methods and the text of the 404.
func TestEveryEndpointIsRouted(t *testing.T) {
	w := newWorld(t, nil)
	_, none := w.do("GET", "/v2", "")
	for _, e := range w.gateway.endpoints() {
		t.Run(e.label, func(t *testing.T) {
			path := strings.Replace(e.path, "{id...}", "default/tiny", 1)
			path = strings.Replace(path, "{id}", "resp_1", 1)
			if r, body := w.do(e.method, path, ""); strings.Contains(body, "unknown_url") || r.StatusCode == http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d %s", e.method, path, r.StatusCode, body)
			}
			r, body := w.do("PATCH", path, "")
			allow := r.Header.Get("Allow")
			if r.StatusCode != http.StatusMethodNotAllowed || !slices.Contains(strings.Split(allow, ", "), e.method) || !strings.Contains(body, "Allowed: "+allow+".") {
				t.Errorf("PATCH %s: %d %q %s", path, r.StatusCode, allow, body)
			}
			if !strings.Contains(none, e.shown()) {
				t.Errorf("the 404 %s does not name %q", none, e.shown())
			}
		})
	}
	const want = "There is nothing here. This server has A, B and C."
	if got := errNoEndpoint([]string{"A", "B", "C"}).Message; got != want {
		t.Errorf("404: got %q, want %q", got, want)
	}
}

// TestDocsListEveryEndpoint checks the table of docs/reference/api.md.
func TestDocsListEveryEndpoint(t *testing.T) {
	docs, err := os.ReadFile("../../../docs/reference/api.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range newWorld(t, nil).gateway.endpoints() {
		if !e.open && !strings.Contains(string(docs), "`"+e.shown()+"`") {
			t.Errorf("docs/reference/api.md does not list `%s`", e.shown())
		}
	}
}

func TestUncleanPathsAreRedirected(t *testing.T) {
	w := newWorld(t, nil)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := client.Get(w.url + "//v1/models")
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	if r.StatusCode < 300 || r.StatusCode >= 400 || r.Header.Get("Location") != "/v1/models" {
		t.Errorf("got %d to %q", r.StatusCode, r.Header.Get("Location"))
	}
}

// TestHealthOfTheAPI holds that probes of the API's port need no token.
func TestHealthOfTheAPI(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.AllowAnonymous = false })
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "nats: ok\nregistry: ok\n"} {
		if r, body := w.do("GET", path, ""); r.StatusCode != http.StatusOK || body != want {
			t.Errorf("%s: %d %q", path, r.StatusCode, body)
		}
		if r, _ := w.do("POST", path, "{}"); r.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, r.StatusCode)
		}
	}
	if r, _ := w.do("GET", "/metrics", ""); r.StatusCode != http.StatusNotFound {
		t.Errorf("metrics on the API's port: %d", r.StatusCode)
	}
}
