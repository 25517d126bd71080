package httpserver

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestAllowHosts sends the Host headers that browsers send, after DNS rebinding
// too.
func TestAllowHosts(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	local := []string{"localhost"}
	cases := map[string]struct {
		allowed []string
		host    string
		want    int
	}{
		"Name":          {local, "localhost:8082", 204},
		"NameAlone":     {local, "localhost", 204},
		"OtherCase":     {local, "LocalHost:1", 204},
		"FinalDot":      {local, "localhost.:1", 204},
		"IPv4":          {local, "127.0.0.1:8082", 204},
		"IPv4Alone":     {local, "127.0.0.1", 204},
		"IPv6":          {local, "[::1]:8082", 204},
		"IPv6Alone":     {local, "[::1]", 204},
		"None":          {local, "", 204},
		"Rebound":       {local, "evil.example:8082", 421},
		"ReboundAlone":  {local, "evil.example", 421},
		"LooksLocal":    {local, "localhost.evil.example:8082", 421},
		"LooksLikeIP":   {local, "127.0.0.1.evil.example:8082", 421},
		"OnlyADot":      {local, ".", 421},
		"AllAreAllowed": {nil, "any.example", 204},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host = c.host
			w := httptest.NewRecorder()
			AllowHosts(ok, c.allowed).ServeHTTP(w, r)
			if w.Code != c.want {
				t.Errorf("got %d, want %d", w.Code, c.want)
			}
		})
	}
}
