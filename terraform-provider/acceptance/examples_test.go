package acceptance

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestExamplesOfTheDocsAreValid validates all examples of the documentation in
// one folder.
func TestExamplesOfTheDocsAreValid(t *testing.T) {
	const examples, tiny = "../examples", "../../examples/models/koldun-tiny/config.json"
	f := mirror(t).Folder(t, "")
	config, err := os.ReadFile(tiny)
	if err != nil {
		t.Fatal(err)
	}
	f.Write("config.json", string(config))
	files := 0
	err = filepath.WalkDir(examples, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".tf" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		f.Write(strings.ReplaceAll(strings.TrimPrefix(path, examples+"/"), "/", "-"), string(raw))
		return nil
	})
	if err != nil || files < 30 {
		t.Fatalf("%d examples, %v", files, err)
	}
	f.OK("init")
	f.OK("validate")
	f.OK("fmt", "-check", "-diff")
}

// TestExamplesAreFormatted checks the examples that TestOnCrossplane applies.
func TestExamplesAreFormatted(t *testing.T) {
	f := mirror(t).Folder(t, "")
	if err := os.CopyFS(filepath.Join(f.Dir, "examples"), os.DirFS("../../examples/terraform")); err != nil {
		t.Fatal(err)
	}
	f.OK("fmt", "-check", "-diff", "-recursive")
}

// TestPlatformInstallsWhatIsTested compares the version of Crossplane in the
// example, which no test installs, with that of the control plane of the tests.
func TestPlatformInstallsWhatIsTested(t *testing.T) {
	example, err := os.ReadFile("../../examples/terraform/platform/main.tf")
	if err != nil {
		t.Fatal(err)
	}
	tested, err := os.ReadFile("../../test/tools/crossplane/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	installs := regexp.MustCompile(`default     = "([0-9.]+)"\n  description = "Version of Crossplane`).FindSubmatch(example)
	runs := regexp.MustCompile(`github.com/crossplane/crossplane/v2 v([0-9.]+)`).FindSubmatch(tested)
	if installs == nil || runs == nil || string(installs[1]) != string(runs[1]) {
		t.Errorf("the example installs %q, tests run %q", installs, runs)
	}
}
