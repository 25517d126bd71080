package supervise

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/test/waittest"
)

// TestRealWorker shows that a supervised real worker is available again after a
// client that connects and disconnects.
func TestRealWorker(t *testing.T) {
	dir := os.Getenv("DLLAMA_BIN")
	if dir == "" {
		t.Skip("run it with: make engine && DLLAMA_BIN=$PWD/bin/distributed-llama go test -run TestRealWorker ./internal/engine/supervise")
	}
	host, port, err := net.SplitHostPort(porttest.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	w := supervised(t, Config{Engine: process(), Command: []string{filepath.Join(dir, "dllama"), "worker", "--host", host, "--port", port, "--nthreads", "1", "--net-turbo", "0"}})
	w.state("listening", http.StatusOK)
	stray, err := net.Dial("tcp", net.JoinHostPort(host, port))
	if err != nil {
		t.Fatal(err)
	}
	_ = stray.Close()
	waittest.Until(t, "it is restarted", func() bool {
		_, text := get(w.url + "/metrics")
		return strings.Contains(text, "koldun_supervised_restarts_total 1")
	})
	w.state("listening", http.StatusOK)
	w.stop()
	w.ended()
}
