package hub_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/fault"
)

// TestHostileListing has a hub list pages without end, and one page of more bytes than any
// repository needs: neither may take much memory.
func TestHostileListing(t *testing.T) {
	page := "[" + strings.Repeat(" ", 1<<20) + "]"
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"Pages": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", `<`+r.URL.Path+`?cursor=x>; rel="next"`)
			_, _ = w.Write([]byte(page))
		}, "its listing has more than 8388608 bytes"},
		"Page": {func(w http.ResponseWriter, _ *http.Request) {
			for range 16 {
				_, _ = w.Write([]byte(page))
			}
		}, "the answer has more than 4194304 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			defer server.Close()
			client, err := hub.New(hub.Config{Endpoint: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Tree(t.Context(), "org/model", strings.Repeat("a", 40))
			if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}
