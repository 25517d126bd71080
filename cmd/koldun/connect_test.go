package main_test

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/test/waittest"
)

// While NATS is unreachable a server is live and not ready, and it stops on
// SIGTERM.
func TestServersLiveWithoutNATS(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		"Gateway":    {"gateway", "--listen=127.0.0.1:0", "--health-listen"},
		"Dispatcher": {"dispatcher", "--identity=d", "--listen"},
		"LLM":        {"llm", "--session=s", "--runner=r", "--model=ns/m", "--listen"},
	}
	for name, args := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := porttest.Address(t)
			p := programtest.StartEnv(t, []string{names.EnvNATSURL + "=nats://" + porttest.Address(t)}, append(args, addr)...)
			f := &stack{t: t}
			f.eventually("a process that lives", func() bool { return get(t, "http://"+addr+"/healthz") == "200 ok\n" })
			f.eventually("the reason why it is not ready", func() bool {
				got := get(t, "http://"+addr+"/readyz")
				return strings.HasPrefix(got, "503 ") && strings.Contains(got, "NATS has not been reached yet")
			})
			if name == "LLM" { // no fault of its server
				f.eventually("a server that lives", func() bool { return strings.HasPrefix(get(t, "http://"+addr+"/engine/livez"), "200 ") })
			}
			p.Signal(t, syscall.SIGTERM)
			if status := p.Exit(t); status != 0 {
				t.Errorf("exit status %d, want 0", status)
			}
		})
	}
}

// get returns status and body, "" while no server listens.
func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := waittest.Client().Do(request)
	if err != nil {
		return ""
	}
	defer func() { _ = r.Body.Close() }()
	text, _ := io.ReadAll(r.Body)
	return strings.TrimSuffix(r.Status, http.StatusText(r.StatusCode)) + string(text)
}
