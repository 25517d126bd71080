package llamacpp

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/llamacpp"
	"github.com/gorizond/koldun/internal/httpserver/porttest"
	"github.com/gorizond/koldun/internal/waittest"
)

// Program is the variable that names llama.cpp's server.
const Program = "LLAMA_SERVER_BIN"

// Model is the name under which the server knows the tiny model, and Slots how many
// requests it computes at the same time.
const (
	Model = "ns/tiny"
	Slots = 4
)

// context is how many tokens each slot has, which the server rounds up to a
// multiple of 256.
const context = 512

// A Server is a llama.cpp's server with the tiny model.
type Server struct {
	URL string // with the path /v1

	tb      testing.TB
	command func() *exec.Cmd
	log     string

	mu      sync.Mutex
	process *exec.Cmd // nil: it does not run
}

// Binary returns the program. It skips the test if there is none, and prints the
// command that runs it.
func Binary(tb testing.TB, command string) string {
	tb.Helper()
	program := os.Getenv(Program)
	if program == "" {
		tb.Skipf("run it with the program of llama.cpp: make bin/ollama && %s=/path/to/llama-server %s", Program, command)
	}
	return program
}

// Start starts a server with a GGUF file on a port of its own, until the test ends.
// Its chat template is that of the tiny model, with tools.
func Start(tb testing.TB, program, file string) *Server {
	tb.Helper()
	addr, home := porttest.Address(tb), tb.TempDir()
	template, err := filepath.Abs("../llamacpp/testdata/tools.jinja")
	if err != nil {
		tb.Fatal(err)
	}
	start := llamacpp.Profile().Start(profile.Launch{
		Model: file, ServedName: Model, Port: addr[strings.LastIndex(addr, ":")+1:], SeqLen: context, Slots: Slots, Threads: 1, Nodes: 1, Rank: "0",
	})
	s := &Server{URL: "http://" + addr + "/v1", tb: tb, log: filepath.Join(home, "serve.log")}
	s.command = func() *exec.Cmd {
		c := exec.Command(program, append(slices.Clone(start.Args), "--chat-template-file", template)...)
		c.Dir, c.Env = home, os.Environ()
		for name, value := range start.Env {
			c.Env = append(c.Env, name+"="+strings.ReplaceAll(value, profile.Home, home))
		}
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		return c
	}
	tb.Cleanup(s.Kill)
	s.Run()
	return s
}

// Run starts the server (again), and waits until it has loaded the model.
func (s *Server) Run() {
	s.tb.Helper()
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.tb.Fatal(err)
	}
	c := s.command()
	c.Stdout, c.Stderr = log, log
	err = c.Start()
	_ = log.Close()
	if err != nil {
		s.tb.Fatal(err)
	}
	s.mu.Lock()
	s.process = c
	s.mu.Unlock()
	health := strings.TrimSuffix(s.URL, "/v1") + llamacpp.Profile().Alone.Ready
	waittest.Until(s.tb, "llama.cpp's server to be ready", func() bool {
		resp, err := waittest.Client().Get(health)
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// Kill ends the server with SIGKILL, if it runs.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return
	}
	_ = syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL)
	_ = s.process.Wait()
	s.process = nil
	if s.tb.Failed() {
		text, _ := os.ReadFile(s.log)
		s.tb.Logf("the server's log:\n%s", text)
	}
}
