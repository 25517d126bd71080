package gateway

import (
	"net/http"
	"strings"
	"testing"
)

// Runners supply the name, and they may be hostile.
func TestSetMember(t *testing.T) {
	for name, want := range map[string]string{
		"canary": "canary", "llama-3.1": "llama-3.1", "session/tiny-1f": "session/tiny-1f", "": "", "session/": "", "session/a/b": "", "other/tiny": "", "Canary": "", "a b": "", "a\r\nSet-Cookie: x": "", strings.Repeat("a", 254): "",
	} {
		h := http.Header{}
		setMember(h, name)
		if got := h.Get("X-Koldun-Member"); got != want {
			t.Errorf("member %q: the header is %q, want %q", name, got, want)
		}
	}
}
