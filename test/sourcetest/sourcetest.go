// Package sourcetest makes cached results of tests depend on sources that a test binary
// does not contain: those of programs that a test builds or runs, and of packages that it
// lists. go test repeats a test if a file or folder has changed that the test itself has
// opened. It does not know what child processes open, such as go build.
package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ofModule prints the folder of each package of the main module, and what it embeds.
const ofModule = `{{if and .Module .Module.Main}}{{.Dir}}{{range .EmbedFiles}}{{"\n"}}{{$.Dir}}/{{.}}{{end}}{{end}}`

// Program opens all from which go build makes a program of the module in the folder
// root, such as "cmd/koldun": the folders of its packages and the files that they embed.
func Program(ctx context.Context, root, program string) error {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", ofModule, "./"+program)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return fmt.Errorf("cannot list sources of program %q: %w", program, err)
	}
	for line := range strings.Lines(string(out) + filepath.Join(root, "go.mod") + "\n" + filepath.Join(root, "go.sum") + "\n") {
		if err := open(strings.TrimSuffix(line, "\n")); err != nil {
			return fmt.Errorf("cannot open source of program %q: %w", program, err)
		}
	}
	return nil
}

// open lets go test know a file, or what is in a folder.
func open(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// Folders opens a folder and all below it, except those without sources.
func Folders(root string) error { return Walk(root, open) }

// Walk calls f with a folder and all below it, except those without sources.
func Walk(root string, f func(folder string) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if path != root && noSources(d.Name()) {
			return fs.SkipDir
		}
		return f(path)
	})
}

// noSources reports whether a folder has no sources: go skips it, or tools write it.
func noSources(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || slices.Contains([]string{"testdata", "bin", "node_modules"}, name)
}
