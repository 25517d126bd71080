package hubserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/hub/hubserver"
	"github.com/gorizond/koldun/internal/fault"
)

func serve(t *testing.T, cfg hubserver.Config) (*hubserver.Server, string) {
	t.Helper()
	srv, err := hubserver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Close() })
	web := httptest.NewServer(srv)
	t.Cleanup(web.Close)
	return srv, web.URL
}

func write(t *testing.T, path, body string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
}

// get does not follow redirects.
func get(t *testing.T, method, url string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestLayouts(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/flat/config.json", "flat")
	write(t, dir+"/org/nested/config.json", "nested")
	write(t, dir+"/outside", "x")
	if err := os.Symlink("/etc", dir+"/etc"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", dir+"/flat/passwd"); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/flat/.git/config", "secret")
	_, url := serve(t, hubserver.Config{Dir: dir})
	cases := map[string]struct {
		status int
		code   string
		body   string
	}{
		"/flat/resolve/main/config.json":            {200, "", "flat"},
		"/any-org/flat/resolve/main/config.json":    {200, "", "flat"},
		"/org/nested/resolve/main/config.json":      {200, "", "nested"},
		"/missing/resolve/main/config.json":         {404, "RepoNotFound", ""},
		"/org/missing/resolve/main/config.json":     {404, "RepoNotFound", ""},
		"/flat/resolve/v1/config.json":              {404, "RevisionNotFound", ""},
		"/flat/resolve/main/missing.json":           {404, "EntryNotFound", ""},
		"/flat/resolve/main/passwd":                 {404, "EntryNotFound", ""},
		"/flat/resolve/main/.git/config":            {404, "EntryNotFound", ""},
		"/flat/resolve/main/%2e%2e%2foutside":       {404, "EntryNotFound", ""},
		"/etc/resolve/main/passwd":                  {404, "RepoNotFound", ""},
		"/api/models/%2e%2e":                        {404, "RepoNotFound", ""},
		"/api/models/a/b/c":                         {404, "RepoNotFound", ""},
		"/api/models/flat/tree/main/no/such/folder": {404, "EntryNotFound", ""},
		"/cdn/0000/flat/config.json":                {403, "", ""},
		"/":                                         {404, "", ""},
	}
	for path, c := range cases {
		resp, body := get(t, http.MethodGet, url+path)
		if resp.StatusCode != c.status || resp.Header.Get("X-Error-Code") != c.code {
			t.Errorf("%s: %d %q, want %d %q", path, resp.StatusCode, resp.Header.Get("X-Error-Code"), c.status, c.code)
		}
		if c.status == 200 && body != c.body {
			t.Errorf("%s: body %q", path, body)
		}
	}
	if resp, _ := get(t, http.MethodPost, url+"/flat/resolve/main/config.json"); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST answers %d", resp.StatusCode)
	}
}

func TestCommitFollowsContent(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/m/a.json", "one")
	write(t, dir+"/m/b/c.safetensors", "two")
	srv, url := serve(t, hubserver.Config{Dir: dir})
	commit := func() string {
		c, err := srv.Commit("m")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := commit()
	if len(first) != 40 || commit() != first {
		t.Errorf("commits %q and %q", first, commit())
	}
	other := t.TempDir()
	write(t, other+"/x/m/a.json", "one")
	write(t, other+"/x/m/b/c.safetensors", "two")
	twin, _ := serve(t, hubserver.Config{Dir: other})
	if c, _ := twin.Commit("x/m"); c != first {
		t.Errorf("the same content elsewhere has commit %q, want %q", c, first)
	}
	write(t, dir+"/m/a.json", "ONE")
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(dir+"/m/a.json", past, past); err != nil {
		t.Fatal(err)
	}
	if commit() == first {
		t.Error("the commit stays while the content changes")
	}
	if resp, _ := get(t, http.MethodGet, url+"/api/models/m/revision/"+first); resp.StatusCode != http.StatusNotFound {
		t.Errorf("the old commit answers %d", resp.StatusCode)
	}
}

func TestLargeFilesRedirect(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/org/m/w.safetensors", "0123456789")
	srv, url := serve(t, hubserver.Config{Dir: dir})
	resp, _ := get(t, http.MethodHead, url+"/org/m/resolve/main/w.safetensors")
	commit, _ := srv.Commit("org/m")
	const sum = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"
	want := map[string]string{
		"X-Repo-Commit": commit, "X-Linked-Size": "10", "X-Linked-Etag": `"` + sum + `"`,
		"Location": "/cdn/" + sum + "/org/m/w.safetensors", "Accept-Ranges": "bytes",
	}
	if resp.StatusCode != http.StatusFound {
		t.Errorf("status %d", resp.StatusCode)
	}
	for k, v := range want {
		if got := resp.Header.Get(k); got != v {
			t.Errorf("%s = %q, want %q", k, got, v)
		}
	}
	resp, body := get(t, http.MethodGet, url+resp.Header.Get("Location"))
	if resp.StatusCode != 200 || body != "0123456789" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}

func TestDescribes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/m/a.json", "{}")
	write(t, dir+"/m/d/e/f.json", "{}")
	_, url := serve(t, hubserver.Config{Dir: dir, Token: "t"})
	if resp, _ := get(t, http.MethodGet, url+"/api/models/m"); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %d", resp.StatusCode)
	}
	_, url = serve(t, hubserver.Config{Dir: dir})
	var info struct {
		ID       string `json:"id"`
		SHA      string `json:"sha"`
		Siblings []struct {
			Name string `json:"rfilename"`
		} `json:"siblings"`
	}
	_, body := get(t, http.MethodGet, url+"/api/models/m")
	if err := json.Unmarshal([]byte(body), &info); err != nil || info.ID != "m" || len(info.SHA) != 40 || len(info.Siblings) != 2 {
		t.Errorf("%v: %s", err, body)
	}
	for path, want := range map[string]int{"tree/main": 2, "tree/main?recursive=true": 4, "tree/main/d?recursive=true": 2, "tree/main/d/e": 1} {
		var entries []any
		_, body := get(t, http.MethodGet, url+"/api/models/m/"+path)
		if err := json.Unmarshal([]byte(body), &entries); err != nil || len(entries) != want {
			t.Errorf("%s: %d entries, want %d: %s", path, len(entries), want, body)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := hubserver.New(hubserver.Config{Dir: t.TempDir() + "/missing"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a missing folder: %v", err)
	}
}
