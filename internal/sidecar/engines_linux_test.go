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

	"github.com/gorizond/koldun/internal/convert"
	"github.com/gorizond/koldun/internal/engine/distributedllama"
	"github.com/gorizond/koldun/internal/engineapi"
	"github.com/gorizond/koldun/internal/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/httpserver/porttest"
	"github.com/gorizond/koldun/internal/names"
	dirstore "github.com/gorizond/koldun/internal/objectstore/dir"
	"github.com/gorizond/koldun/internal/supervise"
	"github.com/gorizond/koldun/internal/topology"
	"github.com/gorizond/koldun/internal/waittest"
)

const (
	tinyModel = "../../examples/models/koldun-tiny"
	question  = "What is Koldun?"
	reply     = "Koldun turns a short YAML claim into a running, OpenAI-compatible language model service on distributed-llama."
	// bins names the folder of real binaries, dllama and dllama-api.
	bins = "DLLAMA_BIN"
)

// A target is an engine of the sidecar: the fake, or the real one with or without
// workers. All pass the same tests.
type target struct {
	url        string
	supervisor sidecarSupervisor // nil: no restarts
	restarts   func() string     // unexpected restarts; "" if none
	kill       func()            // kills the root's process
	workers    []string          // ports of the workers
}

type sidecarSupervisor interface {
	Restart(ctx context.Context) error
}

// targets runs a test on each kind of engine.
func targets(t *testing.T, run func(t *testing.T, e target)) {
	t.Helper()
	t.Run("Double", func(t *testing.T) {
		e := enginetest.Start(t, func(enginetest.Request) enginetest.Reply {
			return enginetest.Reply{Pieces: strings.SplitAfter(reply, " "), Every: time.Millisecond}
		})
		run(t, target{url: e.URL, restarts: e.Aborted, kill: func() {
			e.Stop()
			if err := e.Run(); err != nil {
				t.Error(err)
			}
		}})
	})
	for name, workers := range map[string]int{"Root": 0, "RootAndWorkers": 3} {
		t.Run(name, func(t *testing.T) {
			run(t, ring(t, workers))
		})
	}
}

// ring starts a topology of distributed-llama below supervisors, as pods do.
func ring(t *testing.T, workers int) target {
	t.Helper()
	dir := os.Getenv(bins)
	if dir == "" {
		t.Skip("run it with: " + bins + "=FOLDER go test ./internal/sidecar ./internal/supervise (FOLDER holds dllama and dllama-api of distributed-llama)")
	}
	model, tokenizer := converted(t)
	e := target{}
	var health, peers []string
	for range workers {
		port := strconv.Itoa(porttest.Port(t))
		health = append(health, supervised(t, nil, filepath.Join(dir, "dllama"), "worker", "--host", "127.0.0.1", "--port", port, "--nthreads", "1", "--net-turbo", "0"))
		e.workers = append(e.workers, port)
		peers = append(peers, "127.0.0.1:"+port)
	}
	port := strconv.Itoa(porttest.Port(t))
	command := []string{
		filepath.Join(dir, "dllama-api"), "--model", model, "--tokenizer", tokenizer, "--buffer-float-type", "f32",
		"--host", "127.0.0.1", "--port", port, "--nthreads", "1", "--net-turbo", "0", "--temperature", "0", "--max-seq-len", "256",
	}
	if workers > 0 {
		command = append(append(command, "--workers"), peers...)
	}
	root := "http://" + supervised(t, health, command...)
	e.url, e.supervisor = "http://127.0.0.1:"+port, engineapi.Supervisor{URL: root}
	e.restarts = func() string {
		_, text := get(t, root+"/metrics")
		if strings.Contains(text, "koldun_supervised_restarts_total 0") {
			return ""
		}
		return "it was started again"
	}
	e.kill = func() { signalPort(t, port, syscall.SIGKILL) }
	return e
}

// supervised runs a command until the test ends and returns the address of its
// health.
func supervised(t *testing.T, waitFor []string, command ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	addr, done := make(chan string, 1), make(chan error, 1)
	w := world{t: t}
	cfg := supervise.Config{
		Command: command, Engine: distributedllama.Engine().Process, WaitFor: waitFor, HealthListen: "127.0.0.1:0", Health: func(a string) { addr <- a },
		Grace: time.Millisecond, Output: t.Output(), Logger: w.logger(filepath.Base(command[0])),
	}
	go func() { done <- supervise.Run(ctx, cfg) }()
	t.Cleanup(func() {
		cancel()
		if err := waittest.Receive(t, "a supervisor to end", done); err != nil {
			t.Error(err)
		}
	})
	select {
	case a := <-addr:
		return a
	case err := <-done:
		done <- nil
		t.Fatal(err)
	case <-waittest.Context(t).Done():
		t.Fatal("a supervisor's health cannot be asked for")
	}
	return ""
}

// converted returns the tiny model in f32, because its answers do not depend on the
// number of nodes.
func converted(t *testing.T) (model, tokenizer string) {
	t.Helper()
	dir := t.TempDir()
	from, err := dirstore.Open(tinyModel)
	if err != nil {
		t.Fatal(err)
	}
	to, err := dirstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := convert.Run(t.Context(), convert.Config{From: from, To: to, Name: "tiny", Weights: topology.F32, Only: convert.Both}); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, names.ModelFile("tiny", string(topology.F32))), filepath.Join(dir, names.TokenizerFile("tiny"))
}

// signalPort signals the process of distributed-llama that was given the port.
func signalPort(t *testing.T, port string, s syscall.Signal) {
	t.Helper()
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
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("no process has port %s", port)
}
