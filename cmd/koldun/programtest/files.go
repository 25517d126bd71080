package programtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// NothingHalfWritten fails if a folder holds a converted model without a manifest.
func NothingHalfWritten(t *testing.T, data string) {
	t.Helper()
	err := filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".m") {
			t.Errorf("a failed run left %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
