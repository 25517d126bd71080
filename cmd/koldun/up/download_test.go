package up_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/internal/names"
)

const downloads = `
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
`

// TestUpDownloadsToAVolume downloads a model as plain files. A second run, and one
// after a file was damaged, leave a folder that is the model.
func TestUpDownloadsToAVolume(t *testing.T) {
	t.Parallel()
	data, claims := t.TempDir(), filepath.Join(t.TempDir(), "claims.yaml")
	if err := os.WriteFile(claims, []byte(downloads), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(data, "volumes", "default", "files", "gorizond", "koldun-tiny")
	weights := "model-00001-of-00002.safetensors"
	want, err := os.ReadFile(filepath.Join(models, "koldun-tiny", weights))
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{"New", "Again", "Damaged"} {
		if run == "Damaged" {
			if err := os.Truncate(filepath.Join(folder, weights), 1000); err != nil {
				t.Fatal(err)
			}
		}
		p := programtest.Start(t, "up", "-f", claims, "--hub-dir", models, "--data", data)
		p.Expect(t, `ModelDownload shared Available: 1/1 models are complete`)
		got, err := os.ReadFile(filepath.Join(folder, weights))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: the file has %d bytes, want %d: %v", run, len(got), len(want), err)
		}
		if _, err := os.Stat(filepath.Join(folder, names.Manifest)); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(folder, "train")); !os.IsNotExist(err) {
			t.Errorf("an excluded folder exists: %v", err)
		}
		if strings.Contains(p.Text(), "ReconcileError") {
			t.Errorf("%s: %s", run, p.Text())
		}
		p.Interrupt(t)
		p.Exit(t)
	}
}
