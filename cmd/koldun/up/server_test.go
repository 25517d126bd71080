package up_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/test/waittest"
)

const outside = `
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: default}
stringData: {token: secret-of-the-server}
---
apiVersion: koldun.gorizond.io/v1
kind: Dllama
metadata: {name: outside, namespace: default}
spec:
  engine:
    type: openai
    server: {url: "URL/v1", model: "tiny:latest", apiKeySecretRef: {name: key, key: token}}
  expose: {allowAnonymous: true}
`

// TestUpServesAServerOutside answers from a real Ollama, which only requests with
// the API key of the Secret reach.
func TestUpServesAServerOutside(t *testing.T) {
	t.Parallel()
	target, err := url.Parse(ollama(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		greedy(t, r.Out)
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret-of-the-server" {
			http.Error(w, "no key", http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	claim := filepath.Join(t.TempDir(), "claim.yaml")
	if err := os.WriteFile(claim, []byte(strings.Replace(outside, "URL", server.URL, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := programtest.Start(t, "up", "-f", claim, "--data", t.TempDir(), "--port", "outside-gateway=0", "--once")
	if code := p.Exit(t); code != 0 {
		t.Fatalf("exit status %d", code)
	}
	if !strings.Contains(p.Text(), answer) {
		t.Error("the server gave another answer")
	}
	if strings.Contains(p.Text(), "secret-of-the-server") {
		t.Error("the output holds the API key")
	}
}

// greedy makes a request name temperature 0: the OpenAI API of Ollama takes 1 for none,
// whatever the Modelfile says, and then gives another answer now and then.
func greedy(t *testing.T, r *http.Request) {
	t.Helper()
	if r.Method != http.MethodPost {
		return
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		t.Error(err)
		return
	}
	body["temperature"] = 0
	raw, err := json.Marshal(body)
	if err != nil {
		t.Error(err)
		return
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
}

// ollama starts Ollama with the tiny model and returns its URL.
func ollama(t *testing.T) string {
	t.Helper()
	program, err := filepath.Abs("../../../bin/ollama")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("run `make bin/ollama && go test -run TestUpServesAServerOutside ./cmd/koldun/up`")
	}
	model := t.TempDir()
	if err := os.CopyFS(model, os.DirFS(filepath.Join(models, "koldun-tiny"))); err != nil {
		t.Fatal(err)
	}
	address, home := porttest.Address(t), t.TempDir()
	run := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), program, args...)
		c.Dir, c.Env = model, []string{"HOME=" + home, "OLLAMA_HOST=" + address, "PATH=" + os.Getenv("PATH")}
		// Ollama ends the processes of its models, unless it is killed.
		c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(os.Interrupt) }, waittest.Patience
		return c
	}
	serve := run("serve")
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = serve.Wait() }) // the context of the test has ended it
	waittest.Until(t, "Ollama to listen", func() bool { return run("list").Run() == nil })
	if out, err := run("create", "tiny", "-f", "Modelfile").CombinedOutput(); err != nil {
		t.Fatalf("ollama create: %v\n%s", err, out)
	}
	return "http://" + address
}
