package up

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
)

// programs writes a folder with the given programs.
func programs(t *testing.T, mode os.FileMode, names ...string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "distributed-llama")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestFindDllama(t *testing.T) {
	whole, half := programs(t, 0o700, "dllama", "dllama-api"), programs(t, 0o700, "dllama")
	other, plain := programs(t, 0o700, "dllama", "dllama-api"), programs(t, 0o600, "dllama", "dllama-api")
	list := func(folders ...string) string { return strings.Join(folders, string(os.PathListSeparator)) }
	for name, c := range map[string]struct {
		named, path, beside string
		want                string
		fails               bool
	}{
		"Nowhere":    {},
		"Named":      {named: whole, path: other, want: whole},
		"NamedHalf":  {named: half, path: other, fails: true},
		"NamedPlain": {named: plain, fails: true},
		"Path":       {path: list(half, plain, "", "relative", other), beside: filepath.Dir(whole), want: other},
		"Beside":     {path: half, beside: filepath.Dir(whole), want: whole},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := findDllama(c.named, c.path, c.beside)
			if got.folder != c.want || (err != nil) != c.fails || c.fails && !fault.Is(err, fault.NotFound) {
				t.Errorf("got %q, %v, want %q", got.folder, err, c.want)
			}
			for _, program := range programNames() {
				if err := got.check(program); (err == nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), "make engine") {
					t.Errorf("the check of %s says %v", program, err)
				}
			}
			if got.check("sh") == nil {
				t.Error("any program is run")
			}
		})
	}
}

func TestMemoryOf(t *testing.T) {
	const meminfo = "MemTotal:       2048 kB\nMemFree:        1 kB\n"
	for name, c := range map[string]struct {
		meminfo, limit string
		want           int64
	}{
		"Machine":   {meminfo, "", 2 << 20},
		"Unlimited": {meminfo, "max\n", 2 << 20},
		"Container": {meminfo, "1024\n", 1024},
		"Above":     {meminfo, "9000000\n", 2 << 20},
		"Unknown":   {"", "", 0},
		"OnlyLimit": {"MemTotal: many kB\n", "1024", 1024},
	} {
		t.Run(name, func(t *testing.T) {
			if got := memoryOf(c.meminfo, c.limit); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
