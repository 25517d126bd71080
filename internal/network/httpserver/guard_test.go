package httpserver

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gorizond/koldun/test/waittest"
)

// TestAllowHosts sends the Host headers that browsers send, after DNS rebinding
// too, and those of a cluster.
func TestAllowHosts(t *testing.T) {
	local := []string{"localhost"}
	cases := map[string]struct {
		allowed []string
		host    string
		want    int
	}{
		"Name":           {local, "localhost:8082", 204},
		"NameAlone":      {local, "localhost", 204},
		"OtherCase":      {local, "LocalHost:1", 204},
		"FinalDot":       {local, "localhost.:1", 204},
		"IPv4":           {local, "127.0.0.1:8082", 204},
		"IPv4Alone":      {local, "127.0.0.1", 204},
		"IPv6":           {local, "[::1]:8082", 204},
		"IPv6Alone":      {local, "[::1]", 204},
		"None":           {local, "", 204},
		"Rebound":        {local, "evil.example:8082", 421},
		"ReboundAlone":   {local, "evil.example", 421},
		"LooksLocal":     {local, "localhost.evil.example:8082", 421},
		"LooksLikeIP":    {local, "127.0.0.1.evil.example:8082", 421},
		"OnlyADot":       {local, ".", 421},
		"ServiceOfList":  {local, "worker-0.worker.team.svc:9991", 421},
		"AnyIsAllowed":   {[]string{AnyHost}, "any.example", 204},
		"EmptyListOfAPI": {HostsOrAny(nil), "any.example", 204},
		"ListOfAPI":      {HostsOrAny(local), "any.example", 421},
		"Pod":            {nil, "10.1.2.3:8083", 204},
		"Machine":        {nil, "localhost:8083", 204},
		"Worker":         {nil, "worker-0.worker.team.svc:9991", 204},
		"Service":        {nil, "x.team.svc.cluster.local.:8083", 204},
		"Stranger":       {nil, "evil.example:8083", 421},
		"LikeAService":   {nil, "x.team.svc.evil.example:8083", 421},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host = c.host
			if got := guarded(c.allowed, r); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// TestPagesOfOtherSites sends what browsers send for pages of other sites without
// asking the server first.
func TestPagesOfOtherSites(t *testing.T) {
	cases := map[string]struct {
		method string
		header []string
		want   int
	}{
		"Post":       {http.MethodPost, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"OldBrowser": {http.MethodPost, []string{"Origin", "https://evil.example"}, 403},
		"Sandboxed":  {http.MethodPost, []string{"Origin", "null"}, 403},
		"OtherPort":  {http.MethodPost, []string{"Origin", "http://127.0.0.1:1"}, 403},
		"Delete":     {http.MethodDelete, []string{"Sec-Fetch-Site", "same-site"}, 403},
		"Read":       {http.MethodGet, []string{"Sec-Fetch-Site", "cross-site"}, 204},
		"OwnPage":    {http.MethodPost, []string{"Sec-Fetch-Site", "same-origin"}, 204},
		"OwnOrigin":  {http.MethodPost, []string{"Origin", "http://127.0.0.1:8083"}, 204},
		"Program":    {http.MethodPost, nil, 204},
		"Desktop":    {http.MethodPost, []string{"Origin", "tauri://localhost"}, 204},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "/", nil)
			r.Host = "127.0.0.1:8083"
			for i := 0; i+1 < len(c.header); i += 2 {
				r.Header.Set(c.header[i], c.header[i+1])
			}
			if got := guarded(nil, r); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func guarded(hosts []string, r *http.Request) int {
	w := httptest.NewRecorder()
	guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }), hosts).ServeHTTP(w, r)
	return w.Code
}

// A server of a library refuses strangers, too.
func TestGuard(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Host = "evil.example"
	w := httptest.NewRecorder()
	Guard(http.NotFoundHandler()).ServeHTTP(w, r)
	if w.Code != http.StatusMisdirectedRequest {
		t.Errorf("status %d, want 421", w.Code)
	}
}

// Every server refuses strangers, unless its handler does.
func TestServeGuards(t *testing.T) {
	teapot := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for name, c := range map[string]struct {
		options Options
		want    int
	}{"Usual": {Options{}, http.StatusMisdirectedRequest}, "Own": {Options{OwnGuard: true}, http.StatusTeapot}} {
		t.Run(name, func(t *testing.T) {
			url, stop := start(t, teapot, c.options)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = "evil.example"
			response, err := waittest.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != c.want {
				t.Errorf("status %d, want %d", response.StatusCode, c.want)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}
