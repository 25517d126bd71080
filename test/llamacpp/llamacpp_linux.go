package llamacpp

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/llamacpp"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/test/process"
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
	*process.Server

	URL string // with the path /v1
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
	command := func() *exec.Cmd {
		c := exec.Command(program, append(slices.Clone(start.Args), "--chat-template-file", template)...)
		c.Dir, c.Env = home, os.Environ()
		for name, value := range start.Env {
			c.Env = append(c.Env, name+"="+strings.ReplaceAll(value, profile.Home, home))
		}
		return c
	}
	return &Server{URL: "http://" + addr + "/v1", Server: process.Start(tb, process.Options{
		Name: "llama.cpp's server", Command: command, Log: filepath.Join(home, "serve.log"), Ready: "http://" + addr + llamacpp.Profile().Alone.Ready,
	})}
}
