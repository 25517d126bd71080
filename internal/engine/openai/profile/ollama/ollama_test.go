package ollama_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/ollama"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
)

func TestStart(t *testing.T) {
	got := ollama.Profile().Start(profile.Launch{Model: "qwen3:8b", Downloads: true, ServedName: "qwen3:8b", Port: "9990", SeqLen: 4096, Slots: 2, Nodes: 1, Rank: "0"})
	want := map[string]string{
		"HOME": "$(KOLDUN_DIR_CACHE)", "USER": "koldun", "HF_HOME": "$(KOLDUN_DIR_CACHE)/huggingface", "XDG_CACHE_HOME": "$(KOLDUN_DIR_CACHE)",
		"OLLAMA_HOST": "127.0.0.1:9990", "OLLAMA_MODELS": "$(KOLDUN_DIR_CACHE)/ollama", "OLLAMA_KEEP_ALIVE": "-1", "OLLAMA_NOPRUNE": "1", "OLLAMA_NO_CLOUD": "1",
		"OLLAMA_NUM_PARALLEL": "2", "OLLAMA_MAX_LOADED_MODELS": "1", "OLLAMA_CONTEXT_LENGTH": "4096",
		"KOLDUN_OLLAMA_MODEL": "qwen3:8b", "KOLDUN_OLLAMA_NAME": "qwen3:8b",
	}
	if d := cmp.Diff(want, got.Env); d != "" {
		t.Errorf("the variables differ (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"ollama", "serve"}, got.Command); d != "" || got.Args != nil {
		t.Errorf("the command is %q %q", got.Command, got.Args)
	}
	if !strings.Contains(got.Prepare, "ollama pull") || strings.Contains(got.Prepare, "qwen3") {
		t.Errorf("the script is %q: it must pull, and hold no name", got.Prepare)
	}
}

func TestOperations(t *testing.T) {
	if d := cmp.Diff([]string{"chat", "completion", "embedding"}, ollama.Profile().Operations); d != "" {
		t.Errorf("the operations differ (-want +got):\n%s", d)
	}
}

func TestServedName(t *testing.T) {
	name := ollama.Profile().ServedName
	for _, c := range []struct {
		downloads          bool
		model, given, want string
	}{
		{true, "qwen3:8b", "ns/m", "qwen3:8b"},
		{true, "qwen3", "ns/m", "qwen3:latest"},
		{true, "localhost:5000/a/b", "ns/m", "localhost:5000/a/b:latest"},
		{false, "/model/m.gguf", "ns/m", "ns/m:latest"},
	} {
		if got := name(c.downloads, c.model, c.given); got != c.want {
			t.Errorf("the name of %q for %q is %q, want %q", c.model, c.given, got, c.want)
		}
	}
}

func TestUnfit(t *testing.T) {
	unfit := ollama.Profile().Unfit
	for model, fits := range map[string]bool{"/model/m.gguf": true, "/model/Modelfile": true, "/model": false, "/model/Modelfile.bak": false} {
		if got := unfit(false, model); (got == "") != fits {
			t.Errorf("%q: %q, want it to fit: %v", model, got, fits)
		}
	}
	if got := unfit(true, "qwen3"); got != "" {
		t.Errorf("a download is refused: %s", got)
	}
}

// TestPrepare runs the script with a real Ollama and the tiny model.
func TestPrepare(t *testing.T) {
	program, err := filepath.Abs("../../../../../bin/ollama")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("run `make bin/ollama && go test ./internal/engine/openai/profile/ollama`")
	}
	root, model := t.TempDir(), t.TempDir()
	bin := filepath.Join(root, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(bin, "ollama")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(model, os.DirFS("../../../../../examples/models/koldun-tiny")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(model, "Modelfile"), []byte("FROM .\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := profile.Launch{Model: filepath.Join(model, "Modelfile"), ServedName: "ns/tiny:latest", Port: "0", Slots: 1, Nodes: 1, Rank: "0"}
	start := ollama.Profile().Start(l)
	start.Env["HOME"], start.Env["OLLAMA_MODELS"], start.Env["OLLAMA_HOST"] = root, filepath.Join(root, "models"), porttest.Address(t)
	for range 2 { // the second time it is there already
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", start.Prepare)
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		for k, v := range start.Env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("the script: %v\n%s", err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "models/manifests/registry.ollama.ai/ns/tiny/latest")); err != nil {
		t.Error(err)
	}
}
