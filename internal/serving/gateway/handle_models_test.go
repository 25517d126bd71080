package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/waittest"
)

// TestModelsAnnounceWhatRunnersOffer wants the operations and features of all known
// runners, and nothing of an engine that has not answered.
func TestModelsAnnounceWhatRunnersOffer(t *testing.T) {
	w := newWorld(t, nil)
	model := func() string {
		_, body := w.do("GET", "/v1/models/tiny", "")
		_, offers, _ := strings.Cut(strings.TrimSpace(body), `"namespace":"default"`)
		return offers
	}
	w.putOffer("r1", queue.RunnerStarting, "")
	if got := model(); got != "}" {
		t.Errorf("while the engine starts: %s", got)
	}
	w.putOffer("r1", queue.RunnerIdle, "tools", "seed")
	w.putOffer("r2", queue.RunnerIdle, "logprobs,tools", "seed")
	if got, want := model(), `,"operations":["chat","completion"],"features":["logprobs","n","tools"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestModels(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.Namespace, c.Namespaces = "team", []string{"default"} })
	m := registry.NewModel("team", "large", "s3://b/koldun-manifest.json", strings.Repeat("0", 64),
		manifest.Manifest{Written: modelTime, Files: []manifest.File{{Path: "large.m", Size: 3 << 19}}})
	if _, err := registry.Models(w.bus).Put(t.Context(), m.Key(), m); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the model is known", func() bool { _, ok := w.gateway.models.Get("model/team/large"); return ok })

	const tiny = `{"id":"default/tiny","object":"model","created":1767323045,"owned_by":"koldun","name":"tiny","namespace":"default"}`
	const large = `{"id":"team/large","object":"model","created":1767323045,"owned_by":"koldun","name":"large","namespace":"team","size_bytes":1572864,"size_human":"1.5 MiB"}`
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
