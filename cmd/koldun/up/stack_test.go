package up_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
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
	programtest.WithoutRace(t)
	t.Parallel()
	claims := filepath.Join(t.TempDir(), "claims.yaml")
	if err := os.WriteFile(claims, []byte(stackOfOne), 0o600); err != nil {
		t.Fatal(err)
	}
	p := programtest.Start(t, "up", "-f", claims, "--hub-dir", models, "--data", t.TempDir(), "--port", "stack-model-orchestra-gateway=0", "--once")
	if code := p.Exit(t); code != 0 {
		t.Fatalf("exit status %d", code)
	}
	for _, want := range []string{answer, "Model     tiny\n"} {
		if !strings.Contains(p.Text(), want) {
			t.Errorf("the output lacks %q", want)
		}
	}
}
