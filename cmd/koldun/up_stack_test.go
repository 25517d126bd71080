package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const stackOfOne = `
apiVersion: koldun.gorizond.io/v1
kind: ModelOrchestra
metadata: {name: stack}
spec:
  backend: Koldun
  allowAnonymous: true
  applications:
    reader: {readerConfig: {modelName: gorizond/koldun-tiny, device: cpu, consumerGroup: tiny}}
`

// TestUpServesAStack asks a ModelOrchestra through Koldun's gateway and queue, by the
// consumer group of its application.
func TestUpServesAStack(t *testing.T) {
	withoutRace(t)
	t.Parallel()
	claims := filepath.Join(t.TempDir(), "claims.yaml")
	if err := os.WriteFile(claims, []byte(stackOfOne), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "up", "-f", claims, "--hub-dir", models, "--data", t.TempDir(), "--port", "stack-model-orchestra-gateway=0", "--once")
	if code := p.exit(t); code != 0 {
		t.Fatalf("exit status %d", code)
	}
	for _, want := range []string{answer, "Model     tiny\n"} {
		if !strings.Contains(p.text(), want) {
			t.Errorf("the output lacks %q", want)
		}
	}
}
