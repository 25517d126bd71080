package supervise

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
)

func TestInstall(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "bin", "koldun")
	if err := os.WriteFile(from, []byte("program"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Install(t.Context(), from, to); !fault.Is(err, fault.NotFound) {
		t.Errorf("without a folder: %v", err)
	}
	if err := os.Mkdir(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	var before os.FileInfo
	for _, old := range []string{"", "other!!", "longer than it"} {
		if old != "" {
			if err := os.WriteFile(to, []byte(old), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := Install(t.Context(), from, to); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(to)
		if err != nil || string(got) != "program" {
			t.Fatalf("%q, %v", got, err)
		}
		before, err = os.Stat(to)
		if err != nil || before.Mode().Perm() != 0o755 {
			t.Fatalf("%v, %v", before, err)
		}
	}
	if err := Install(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(to); err != nil || !os.SameFile(before, after) {
		t.Errorf("the same bytes were written again: %v", err)
	}
	if err := os.WriteFile(from, []byte("program 2"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := Install(ended, from, to); !fault.Is(err, fault.Interrupted) {
		t.Errorf("interrupted: %v", err)
	}
	if err := Install(t.Context(), from, dir); !fault.Is(err, fault.Invalid) {
		t.Errorf("onto a folder: %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(to))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
