package ollama

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/test/process"
)

// Model is the name under which Ollama knows the tiny model.
const Model = "tiny"

// Slots is how many requests the server computes at the same time.
const Slots = 4

// requireEnv makes tests fail instead of skip.
const requireEnv = "KOLDUN_REQUIRE_CLUSTER"

// A Server is an Ollama with the tiny model.
type Server struct {
	*process.Server

	URL string // with the path /v1

	tb     testing.TB
	binary string
	home   string
	addr   string
}

// Start starts a server with the tiny model on a port of its own, until the test
// ends. It skips the test if Ollama is not built.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{tb: tb, binary: Program(tb), home: tb.TempDir(), addr: porttest.Address(tb)}
	s.URL = "http://" + s.addr + "/v1"
	s.Server = process.Start(tb, process.Options{
		Name: "Ollama", Command: func() *exec.Cmd { return s.command("serve") },
		Log: filepath.Join(s.home, "serve.log"), Ready: "http://" + s.addr + "/api/version",
	})
	folder, err := filepath.Abs("../../examples/models/koldun-tiny")
	if err != nil {
		tb.Fatal(err)
	}
	s.create(Model, folder)
	return s
}

// Program returns the path of Ollama. It skips the test if Ollama is not built. Tests of
// packages in test call it.
func Program(tb testing.TB) string {
	tb.Helper()
	program, err := filepath.Abs("../../bin/ollama")
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		if os.Getenv(requireEnv) == "1" {
			tb.Fatalf("%s is not built; run: make bin/ollama", program)
		}
		tb.Skipf("%s is not built; run: make bin/ollama", program)
	}
	return program
}

// modelfile has the chat template of the tiny model, without which its answers are
// others. One thread is faster than two that wait for each other on a busy machine.
const modelfile = `FROM %s
TEMPLATE """{{- range .Messages }}<|start_header_id|>{{ .Role }}<|end_header_id|>

{{ .Content }}<|eot_id|>{{ end }}<|start_header_id|>assistant<|end_header_id|>

"""
PARAMETER stop <|eot_id|>
PARAMETER num_thread 1
`

func (s *Server) create(model, folder string) {
	s.tb.Helper()
	file := filepath.Join(s.home, "Modelfile")
	if err := os.WriteFile(file, fmt.Appendf(nil, modelfile, folder), 0o600); err != nil {
		s.tb.Fatal(err)
	}
	out, err := s.command("create", model, "-f", file).CombinedOutput()
	if err != nil {
		s.tb.Fatalf("ollama create: %v\n%s", err, out)
	}
}

// Weights returns the GGUF file that Ollama has made of the tiny model.
func (s *Server) Weights() string {
	s.tb.Helper()
	blobs, _ := filepath.Glob(filepath.Join(s.home, "models/blobs/sha256-*"))
	for _, blob := range blobs {
		data, err := os.ReadFile(blob)
		if err == nil && strings.HasPrefix(string(data), "GGUF") {
			return blob
		}
	}
	s.tb.Fatalf("none of %q is a GGUF file", blobs)
	return ""
}

// Copy makes the tiny model known under another name.
func (s *Server) Copy(name string) {
	s.tb.Helper()
	if out, err := s.command("cp", Model, name).CombinedOutput(); err != nil {
		s.tb.Fatalf("ollama cp: %v\n%s", err, out)
	}
}

func (s *Server) command(args ...string) *exec.Cmd {
	c := exec.Command(s.binary, args...)
	c.Dir = s.home
	c.Env = append(os.Environ(), "HOME="+s.home, "OLLAMA_HOST="+s.addr, "OLLAMA_MODELS="+filepath.Join(s.home, "models"),
		"OLLAMA_KEEP_ALIVE=-1", "OLLAMA_CONTEXT_LENGTH=512", "OLLAMA_NUM_PARALLEL="+strconv.Itoa(Slots))
	return c
}
