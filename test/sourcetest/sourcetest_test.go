package sourcetest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/test/sourcetest"
)

// moduleEnv names the module whose sources a child process opens.
const moduleEnv = "KOLDUN_TEST_MODULE"

// files are those of a module with a program, a package that it imports, one that it does
// not import, and folders without packages.
var files = map[string]string{
	"go.mod":                "module example.org/hello\n\ngo 1.24\n",
	"go.sum":                "",
	"cmd/hello/main.go":     "package main\n\nimport \"example.org/hello/text\"\n\nfunc main() { println(text.Hello) }\n",
	"text/text.go":          "package text\n\nimport _ \"embed\"\n\n//go:embed words/hello.txt\nvar Hello string\n",
	"text/words/hello.txt":  "Hello\n",
	"other/sub/other.go":    "package sub\n",
	"other/testdata/x/x.go": "package x\n",
	"other/_output/y/y.go":  "package y\n",
}

// TestSourcesAreInputs reads the log from which go test knows the inputs of a test.
func TestSourcesAreInputs(t *testing.T) {
	if root := os.Getenv(moduleEnv); root != "" {
		if err := sourcetest.Program(t.Context(), root, "cmd/hello"); err != nil {
			t.Fatal(err)
		}
		if err := sourcetest.Folders(filepath.Join(root, "other")); err != nil {
			t.Fatal(err)
		}
		return
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestSourcesAreInputs$", "-test.testlogfile="+log)
	cmd.Env = append(os.Environ(), moduleEnv+"="+root)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"go.mod": true, "go.sum": true, "cmd/hello": true, "text": true, "text/words/hello.txt": true, "other": true, "other/sub": true,
		"other/testdata": false, "other/testdata/x": false, "other/_output/y": false,
	} {
		if got := strings.Contains(string(raw), "open "+filepath.Join(root, path)+"\n"); got != want {
			t.Errorf("%s is an input: %v, want %v\n%s", path, got, want, raw)
		}
	}
}

func TestProgramThatDoesNotExist(t *testing.T) {
	err := sourcetest.Program(t.Context(), "../..", "cmd/absent")
	if err == nil || !strings.Contains(err.Error(), `cannot list sources of program "cmd/absent"`) || !strings.Contains(err.Error(), "directory not found") {
		t.Errorf("the error is %v", err)
	}
}
