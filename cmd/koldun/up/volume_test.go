package up_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
)

// inVolume is a claim on files that are in a volume already.
const inVolume = `apiVersion: koldun.gorizond.io/v1
kind: Dllama
metadata: {name: stored}
spec:
  expose: {allowAnonymous: true}
  model: {preConverted: true, preConvertedPVCName: files, launchOptions: [--model, /model/%s, --tokenizer, /model/dllama_tokenizer_tiny.t]}
`

// TestUpServesAVolume serves files that another program has converted into a volume. The
// memory plan of the root is made from their header, and a file that does not exist is
// named with those that do.
func TestUpServesAVolume(t *testing.T) {
	data := t.TempDir()
	volume := filepath.Join(data, "volumes", "default", "files")
	if err := os.MkdirAll(volume, 0o755); err != nil {
		t.Fatal(err)
	}
	convert := programtest.Start(t, "convert", "--from", filepath.Join(models, "koldun-tiny"), "--to", volume, "--name", "tiny")
	if code := convert.Exit(t); code != 0 {
		t.Fatalf("cannot convert: exit status %d", code)
	}
	claim := func(file string) string {
		path := filepath.Join(t.TempDir(), "claim.yaml")
		if err := os.WriteFile(path, fmt.Appendf(nil, inVolume, file), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	args := []string{"--data", data, "--port", "stored-gateway=0", "--once"}
	wrong := programtest.Start(t, append([]string{"up", "-f", claim("other.m")}, args...)...)
	if code := wrong.Exit(t); code == 0 || !strings.Contains(wrong.Text(), `file "other.m" does not exist: there are "dllama_model_tiny_q40.m"`) {
		t.Errorf("a file that does not exist: exit status %d", code)
	}
	right := programtest.Start(t, append([]string{"up", "-f", claim("dllama_model_tiny_q40.m")}, args...)...)
	if code := right.Exit(t); code != 0 {
		t.Fatalf("exit status %d", code)
	}
	if !strings.Contains(right.Text(), "stored-inspect-") || !strings.Contains(right.Text(), answer) {
		t.Error("the model is not inspected, or does not answer")
	}
}
