package up_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/test/waittest"
)

// mapped is an AIDeployment on two nodes of distributed-llama, whose model is a variant
// of an AIModelMap.
const mapped = `
apiVersion: koldun.gorizond.io/v1
kind: AIModelMap
metadata: {name: tiny}
spec:
  distributed-llama: [{variant: q40, uri: gorizond/koldun-tiny, quantization: q40}]
---
apiVersion: koldun.gorizond.io/v1
kind: AIDeployment
metadata: {name: chat}
spec:
  engine: {name: distributed-llama, nodes: 2}
  models: [{modelMapRef: {name: tiny, variant: q40}}]
  gateway: {allowAnonymous: true}
`

// onOllama is an AIDeployment on Ollama with a model that a ModelDownload has put into a
// volume.
const onOllama = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: files}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
---
apiVersion: koldun.gorizond.io/v1
kind: ModelDownload
metadata: {name: shared}
spec:
  storagePVC: files
  models: [{name: gorizond/koldun-tiny, exclude: ['train/*']}]
---
apiVersion: koldun.gorizond.io/v1
kind: AIDeployment
metadata: {name: chat}
spec:
  engine: {name: ollama, maxSeqLen: 512}
  models: [{uri: gorizond/koldun-tiny/Modelfile}]
  modelSource: {modelDownloadRef: {name: shared}}
`

// upAIDeployment runs an AIDeployment, which answers koldun's question, and returns the URL
// of its API.
func upAIDeployment(t *testing.T, claims, service string, more ...string) (p *programtest.Process, url string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "claims.yaml")
	if err := os.WriteFile(file, []byte(claims), 0o600); err != nil {
		t.Fatal(err)
	}
	p = programtest.Start(t, append([]string{"up", "-f", file, "--hub-dir", models, "--data", t.TempDir(), "--port", service + "=0"}, more...)...)
	return p, endpoint(t, p)
}

// TestUpServesAnAIDeploymentOnARing downloads and converts the model of an AIDeployment,
// and asks it through the gateway, which a root and a worker of distributed-llama serve.
func TestUpServesAnAIDeploymentOnARing(t *testing.T) {
	bin := os.Getenv("DLLAMA_BIN")
	if bin == "" {
		t.Skip("runs a ring of distributed-llama: make engine && DLLAMA_BIN=$PWD/bin/distributed-llama go test ./cmd/koldun/up -run AIDeployment")
	}
	p, _ := upAIDeployment(t, mapped, "chat-gateway", "--dllama-bin", bin)
	if !strings.Contains(p.Text(), answer) {
		t.Error("the engine gave another answer")
	}
	p.Expect(t, `AIDeployment chat Available: distributed-llama serves default/chat`)
	p.Expect(t, `Model     default/chat`)
	workers, roots := engines(descendants(t, p.PID()))
	if len(workers) != 1 || len(roots) != 1 {
		t.Errorf("%d workers and %d roots run, want one of each", len(workers), len(roots))
	}
	p.Interrupt(t)
	if code := p.Exit(t); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// TestUpServesAnAIDeploymentOnOllama asks a real Ollama, alone behind its Service and
// behind the gateway. It leaves no process, even if koldun is killed.
func TestUpServesAnAIDeploymentOnOllama(t *testing.T) {
	programtest.WithoutRace(t)
	program, err := filepath.Abs("../../../bin/ollama")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("run `make bin/ollama && go test -run AIDeployment ./cmd/koldun/up`")
	}
	bin := t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "ollama")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, c := range map[string]struct{ spec, service, model string }{
		"Alone":   {"", "chat", "chat:latest"},
		"Gateway": {"  gateway: {allowAnonymous: true}\n", "chat-gateway", "default/chat"},
	} {
		t.Run(name, func(t *testing.T) {
			p, url := upAIDeployment(t, onOllama+c.spec, c.service)
			// Koldun's question names no temperature, so Ollama answers it differently now and
			// then (see greedy).
			client := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0))
			got, err := client.Chat.Completions.New(waittest.Context(t), openai.ChatCompletionNewParams{
				Model: c.model, Temperature: openai.Float(0),
				Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is Koldun?")},
			})
			if err != nil {
				t.Fatal(err)
			}
			if text := got.Choices[0].Message.Content; text != answer {
				t.Errorf("got answer %q", text)
			}
			p.Expect(t, `AIDeployment chat Available: ollama serves `+c.model)
			p.Expect(t, `Model     `+c.model)
			children := descendants(t, p.PID())
			p.Kill(t)
			gone(t, children)
		})
	}
}

// TestUpWithoutOllama says how to get the program.
func TestUpWithoutOllama(t *testing.T) {
	claims := filepath.Join(t.TempDir(), "claims.yaml")
	if err := os.WriteFile(claims, []byte(onOllama), 0o600); err != nil {
		t.Fatal(err)
	}
	p := programtest.StartEnv(t, []string{"PATH=" + t.TempDir()}, "up", "-f", claims, "--hub-dir", models, "--data", t.TempDir(), "--port", "chat=0", "--once")
	if code := p.Exit(t); code != 10 {
		t.Errorf("exit status %d", code)
	}
	if !strings.Contains(p.Text(), `the program "ollama" is not on PATH of this machine: install it`) {
		t.Error("the output does not say how to get the program")
	}
}
