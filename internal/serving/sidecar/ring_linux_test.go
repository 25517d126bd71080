package sidecar_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/convert"
	"github.com/gorizond/koldun/internal/artifact/convert/converttest"
	dirstore "github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/engine/distributedllama"
	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/supervise"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/internal/network/httpserver/proxytest"
	"github.com/gorizond/koldun/test/waittest"
)

// bins names the folder of the real binaries, dllama and dllama-api.
const bins = "DLLAMA_BIN"

// binaries returns the folder of the real binaries, or skips the test.
func binaries(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv(bins)
	if dir == "" {
		tb.Skip("run it with: make engine && " + bins + "=$PWD/bin/distributed-llama go test ./internal/serving/sidecar")
	}
	return dir
}

// A nodes is a topology of distributed-llama below supervisors, as pods have it.
type nodes struct {
	url     string   // of the root
	port    string   // of the root
	health  string   // HOST:PORT of the root's supervisor
	key     string   // file of the key for it
	workers []string // ports
	links   []*proxytest.Proxy
}

// startNodes starts a root and workers. All nodes reach a worker through its link,
// which tests cut.
func startNodes(tb testing.TB, workers int, m files) *nodes {
	tb.Helper()
	dir := binaries(tb)
	n := &nodes{port: strconv.Itoa(porttest.Port(tb))}
	var waitFor, peers []string
	for range workers {
		port := strconv.Itoa(porttest.Port(tb))
		waitFor = append(waitFor, supervised(tb, "", nil, filepath.Join(dir, "dllama"), "worker", "--host", "127.0.0.1", "--port", port, "--nthreads", "1", "--net-turbo", "0"))
		link := proxytest.Start(tb, "127.0.0.1:"+port)
		n.workers, n.links, peers = append(n.workers, port), append(n.links, link), append(peers, link.Address())
	}
	command := []string{
		filepath.Join(dir, "dllama-api"), "--model", m.model, "--tokenizer", m.tokenizer, "--buffer-float-type", m.buffers,
		"--host", "127.0.0.1", "--port", n.port, "--nthreads", "1", "--net-turbo", "0", "--temperature", "0", "--max-seq-len", "512",
	}
	if workers > 0 {
		command = append(append(command, "--workers"), peers...)
	}
	n.key = filepath.Join(tb.TempDir(), "key")
	n.health = supervised(tb, n.key, waitFor, command...)
	n.url = "http://127.0.0.1:" + n.port
	return n
}

// supervisor returns a client of the root's supervisor.
func (n *nodes) supervisor() engineapi.Supervisor {
	return engineapi.Supervisor{URL: "http://" + n.health, KeyFile: n.key}
}

// kill kills the process at a port.
func kill(tb testing.TB, port string) {
	tb.Helper()
	signalPort(tb, port, syscall.SIGKILL)
}

// ring starts the tiny model on a root and workers.
func ring(t *testing.T, workers int) target {
	t.Helper()
	binaries(t)
	n := startNodes(t, workers, converted(t, tinyModel, topology.F32))
	e := target{url: n.url, supervisor: n.supervisor(), workers: n.workers, links: n.links}
	e.restarts = func() string {
		_, text := get(t, "http://"+n.health+"/metrics")
		if strings.Contains(text, "koldun_supervised_restarts_total 0") {
			return ""
		}
		return "it was started again"
	}
	e.kill = func() { kill(t, n.port) }
	return e
}

// supervised runs a command until the test ends and returns the address of its
// health.
func supervised(tb testing.TB, keyFile string, waitFor []string, command ...string) string {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	addr, done := make(chan string, 1), make(chan error, 1)
	w := world{}
	cfg := supervise.Config{
		Command: command, Engine: distributedllama.Engine().Process, WaitFor: waitFor, KeyFile: keyFile, HealthListen: "127.0.0.1:0", Health: func(a string) { addr <- a },
		Grace: time.Millisecond, Output: tb.Output(), Logger: w.logger(filepath.Base(command[0])),
	}
	go func() { done <- supervise.Run(ctx, cfg) }()
	tb.Cleanup(func() {
		cancel()
		if err := waittest.Receive(tb, "a supervisor to end", done); err != nil {
			tb.Error(err)
		}
	})
	select {
	case a := <-addr:
		return a
	case err := <-done:
		done <- nil
		tb.Fatal(err)
	case <-waittest.Context(tb).Done():
		tb.Fatal("a supervisor's health cannot be asked for")
	}
	return ""
}

// files are those of a converted model.
type files struct{ model, tokenizer, buffers string }

// random writes a model of that shape with random weights, and converts it. The
// tokenizer is that of tinyModel.
func random(tb testing.TB, shape converttest.Shape, weights topology.FloatType) files {
	tb.Helper()
	repository := tb.TempDir()
	converttest.Write(tb, repository, shape, tinyModel)
	return converted(tb, repository, weights)
}

// converted converts a repository. With f32 weights, answers do not depend on the
// number of nodes.
func converted(tb testing.TB, repository string, weights topology.FloatType) files {
	tb.Helper()
	buffers, err := topology.SyncFor(weights)
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	from, err := dirstore.Open(repository)
	if err != nil {
		tb.Fatal(err)
	}
	to, err := dirstore.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := convert.Run(tb.Context(), convert.Config{From: from, To: to, Name: "tiny", Weights: weights, Only: convert.Both}); err != nil {
		tb.Fatal(err)
	}
	return files{filepath.Join(dir, names.ModelFile("tiny", string(weights))), filepath.Join(dir, names.TokenizerFile("tiny")), string(buffers)}
}

// signalPort signals the process of distributed-llama that was given the port.
func signalPort(tb testing.TB, port string, s syscall.Signal) {
	tb.Helper()
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		line, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(line), "\x00--port\x00"+port+"\x00") {
			continue
		}
		pid := 0
		for _, digit := range filepath.Base(filepath.Dir(name)) {
			pid = pid*10 + int(digit-'0')
		}
		if err := syscall.Kill(pid, s); err != nil {
			tb.Fatal(err)
		}
		return
	}
	tb.Fatalf("no process has port %s", port)
}
