package up_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/test/waittest"
)

const ring = "../../../examples/quickstart/ring.yaml"

// upRing starts a root and three workers of distributed-llama.
func upRing(t *testing.T, data string, more ...string) *programtest.Process {
	t.Helper()
	bin := os.Getenv("DLLAMA_BIN")
	if bin == "" {
		t.Skip("runs a ring of distributed-llama: make engine && DLLAMA_BIN=$PWD/bin/distributed-llama go test ./cmd/koldun/up -run Ring")
	}
	args := []string{"up", "-f", ring, "--hub-dir", models, "--data", data, "--port", "koldun-ring-gateway=0", "--dllama-bin", bin}
	return programtest.Start(t, append(args, more...)...)
}

// engines returns the process ids of the running programs of distributed-llama.
func engines(processes map[int]string) (workers, roots []int) {
	for pid, line := range processes {
		program, args, _ := strings.Cut(line, " ")
		switch {
		case filepath.Base(program) == "dllama" && strings.HasPrefix(args, "worker "):
			workers = append(workers, pid)
		case filepath.Base(program) == "dllama-api":
			roots = append(roots, pid)
		}
	}
	return workers, roots
}

func TestUpRingMendsAndLeavesNothing(t *testing.T) {
	p := upRing(t, t.TempDir(), "--ask", "")
	url := endpoint(t, p)
	client := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(20))
	ask := func() {
		t.Helper()
		got, err := client.Chat.Completions.New(waittest.Context(t), openai.ChatCompletionNewParams{
			Model:    "koldun-ring",
			Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is Koldun?")},
		})
		if err != nil {
			t.Fatal(err)
		}
		if text := got.Choices[0].Message.Content; text != answer {
			t.Errorf("got answer %q", text)
		}
	}
	ask()
	children := descendants(t, p.PID())
	workers, roots := engines(children)
	if len(workers) != 3 || len(roots) != 1 {
		t.Fatalf("%d workers and %d roots run, want 3 and 1: %v", len(workers), len(roots), children)
	}
	for pid, line := range children {
		if strings.Contains(line, "0.0.0.0") {
			t.Errorf("process %d listens on all interfaces: %s", pid, line)
		}
	}
	if err := syscall.Kill(workers[1], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ask()
	_, roots = engines(descendants(t, p.PID())) // the ring has mended with a new root
	if len(roots) != 1 {
		t.Fatalf("%d roots run after the ring has mended", len(roots))
	}
	if err := syscall.Kill(roots[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ask()
	children = descendants(t, p.PID())
	p.Interrupt(t)
	if code := p.Exit(t); code != 0 {
		t.Errorf("exit status %d", code)
	}
	gone(t, children)
}

func TestUpRingKilledLeavesNothing(t *testing.T) {
	p := upRing(t, t.TempDir(), "--ask", "")
	endpoint(t, p)
	children := descendants(t, p.PID())
	if workers, roots := engines(children); len(workers) != 3 || len(roots) != 1 {
		t.Fatalf("%d workers and %d roots run, want 3 and 1: %v", len(workers), len(roots), children)
	}
	p.Kill(t)
	gone(t, children)
}

func TestUpRingWithoutPrograms(t *testing.T) {
	p := programtest.StartEnv(t, []string{"PATH=" + t.TempDir()}, "up", "-f", ring, "--hub-dir", models, "--data", t.TempDir(), "--port", "koldun-ring-gateway=0", "--once")
	if code := p.Exit(t); code != 10 {
		t.Errorf("exit status %d", code)
	}
	if text := p.Text(); !strings.Contains(text, `run "make engine", or name its folder with --dllama-bin`) {
		t.Errorf("the output does not say how to get the programs: %s", text)
	}
}
