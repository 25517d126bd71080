package hub

import (
	"io/fs"
	"net/http"
	"testing"
	"time"
)

func FuzzParseTree(f *testing.F) {
	f.Add([]byte(`[{"type":"file","path":"a/b","size":3,"oid":"da39a3ee5e6b4b0d3255bfef95601890afd80709"}]`))
	f.Add([]byte(`[{"type":"file","path":"x","size":1,"lfs":{"oid":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":9}}]`))
	f.Add([]byte(`[{"type":"directory","path":".."}]`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, body []byte) {
		files, err := parseTree(body)
		if err != nil {
			return
		}
		for _, file := range files {
			if !fs.ValidPath(file.Path) || file.Size < 0 || (file.SHA256 == "" && len(file.OID) != 40) {
				t.Errorf("accepted %+v", file)
			}
		}
	})
}

func FuzzHeaders(f *testing.F) {
	f.Add(`"api";r=0;t=55`, "120", "bytes 0-9/10", `<http://x/y?cursor=a>; rel="next"`)
	f.Add(`r=1;t=1e300`, "Wed, 21 Oct 2065 07:28:00 GMT", "bytes */10", `<a>,<b>;rel=next`)
	f.Add(`t=-1;r=-1`, "NaN", "bytes 9223372036854775807-9223372036854775808/1", `>`)
	f.Fuzz(func(t *testing.T, limit, after, span, link string) {
		h := http.Header{"Ratelimit": {limit}, "Retry-After": {after}}
		if d := toldWait(h, true, time.Unix(0, 0)); d < 0 || d > longest {
			t.Errorf("wait %s", d)
		}
		if first, last, err := contentRange(span); err == nil && (first < 0 || last < first) {
			t.Errorf("range %d-%d", first, last)
		}
		_ = nextPage([]string{link})
	})
}

func TestTokenOnlyForOrigin(t *testing.T) {
	c, err := New(Config{Endpoint: "https://hub.example:8443/base", Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]bool{
		"https://hub.example:8443/other":      true,
		"http://hub.example:8443/base":        false,
		"https://hub.example/base":            false,
		"https://hub.example.evil.test:8443/": false,
		"https://cdn.hub.example:8443/":       false,
	}
	for to, want := range cases {
		req, err := http.NewRequest(http.MethodGet, to, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.mayHaveToken(req.URL); got != want {
			t.Errorf("mayHaveToken(%s) = %v", to, got)
		}
	}
}
