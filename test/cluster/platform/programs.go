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

	"github.com/gorizond/koldun/internal/sourcetest"
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

// Packages builds the package files of the Function, the Provider and one
// Configuration (a folder of package/) in dir, as make package does. It returns
// them by their published names.
func Packages(ctx context.Context, root, dir, configuration string) (map[string]string, error) {
	builder, err := Build(ctx, root, "package/build")
	if err != nil {
		return nil, err
	}
	crds, err := filepath.Glob(filepath.Join(root, "apis", "crds", "koldun.m.gorizond.io_*.yaml"))
	if err != nil {
		return nil, err
	}
	more := map[string][]string{"provider": crds, "configuration": {filepath.Join(root, "crossplane.yaml")}}
	out := map[string]string{}
	for folder, version := range map[string]string{configuration: "latest", "function": "v0.1.0", "provider": "v0.1.0"} {
		stage, err := filepath.Abs(filepath.Join(dir, "packages", folder))
		if err != nil {
			return nil, err
		}
		if err := os.CopyFS(stage, os.DirFS(filepath.Join(root, "package", folder))); err != nil {
			return nil, err
		}
		for _, file := range more[folder] {
			raw, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if err := os.WriteFile(filepath.Join(stage, filepath.Base(file)), raw, 0o644); err != nil {
				return nil, err
			}
		}
		file := stage + ".xpkg"
		if err := run(ctx, root, builder, "package", "--stage", stage, "--out", file); err != nil {
			return nil, err
		}
		out[host+"koldun-"+folder+":"+version] = file
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
