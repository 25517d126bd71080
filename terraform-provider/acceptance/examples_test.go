package acceptance

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamplesOfTheDocsAreValid validates all that the documentation shows, in
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

// TestExamplesAreFormatted looks at those that TestOnCrossplane applies.
func TestExamplesAreFormatted(t *testing.T) {
	f := mirror(t).Folder(t, "")
	if err := os.CopyFS(filepath.Join(f.Dir, "examples"), os.DirFS("../../examples/terraform")); err != nil {
		t.Fatal(err)
	}
	f.OK("fmt", "-check", "-diff", "-recursive")
}
