package platform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gorizond/koldun/test/sourcetest"
)

// host is the registry in the names of Koldun's packages.
const host = "ghcr.io/gorizond/"

// Build builds a program of the repository at root, such as "cmd/koldun", into
// _output/programs and returns its path. All test packages share that folder: a
// program that has not changed is not linked again.
func Build(ctx context.Context, root, program string) (string, error) {
	output, err := filepath.Abs(filepath.Join(root, "_output"))
	if err != nil {
		return "", err
	}
	dir := filepath.Join(output, "programs")
	// Not MkdirAll, which looks at the folder: go test would take it for an input, and
	// repeat this test after another one has built a program.
	for _, d := range []string{output, dir} {
		if err := os.Mkdir(d, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	// go build does not replace a program atomically, and tests of another
	// package may be starting it.
	lock, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close() //nolint:errcheck // nothing is written; closing unlocks it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("cannot lock %s: %w", dir, err)
	}
	if err := sourcetest.Program(ctx, root, program); err != nil {
		return "", err
	}
	path := filepath.Join(dir, filepath.Base(program))
	return path, run(ctx, root, "go", "build", "-ldflags", "-s -w", "-o", path, "./"+program)
}

// Version is the version of packages in the repository.
const Version = "v0.0.0"

// Packages builds the package files of the Function, the Provider and one
// Configuration (a folder of package/) in dir, as make package does. It returns
// them by their published names.
func Packages(ctx context.Context, root, dir, configuration string) (map[string]string, error) {
	builder, err := Build(ctx, root, "package/build")
	if err != nil {
		return nil, err
	}
	for _, folder := range []string{"apis/crds", "package"} { // which the builder reads
		if err := sourcetest.Folders(filepath.Join(root, folder)); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(filepath.Join(root, "crossplane.yaml")); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, name := range []string{configuration, "function", "provider"} {
		file, err := filepath.Abs(filepath.Join(dir, "packages", name+".xpkg"))
		if err != nil {
			return nil, err
		}
		if err := run(ctx, root, builder, "package", "--name", "koldun-"+name, "--out", file); err != nil {
			return nil, err
		}
		out[host+"koldun-"+name+":"+Version] = file
	}
	return out, nil
}

func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot run %s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
