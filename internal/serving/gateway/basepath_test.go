package gateway

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestBasePath(t *testing.T) {
	path := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })
	for name, c := range map[string]struct{ base, asked, want string }{
		"None":      {"", "/v1/models", "/v1/models"},
		"Below":     {"/llm", "/llm/v1/models", "/v1/models"},
		"Slash":     {"/llm/", "/llm/v1/models", "/v1/models"},
		"Removed":   {"/llm", "/v1/models", "/v1/models"}, // by the proxy
		"LikeIt":    {"/llm", "/llms/v1/models", "/llms/v1/models"},
		"NotItself": {"/llm", "/llm", "/llm"},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			under(c.base, path).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.asked, nil))
			if got := w.Body.String(); got != c.want {
				t.Errorf("%s is served as %s, want %s", c.asked, got, c.want)
			}
		})
	}
}
