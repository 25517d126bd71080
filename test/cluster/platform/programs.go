package platform

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// host is the registry by whose name users know our packages.
const host = "ghcr.io/gorizond/"

// programs are what was built from the repository.
type programs struct {
	root string            // of the repository
	dir  string            // that holds koldun and provider
	xpkg map[string]string // package files by the name users know them by
}

// build the programs and the packages of a repository into dir.
func build(ctx context.Context, root, dir string) (*programs, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	p := &programs{root: root, dir: filepath.Join(dir, "bin"), xpkg: map[string]string{}}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return nil, err
	}
	// As make builds them, so that Go has them in its cache.
	flags := "-s -w"
	for _, name := range []string{"cmd/koldun", "provider", "package/build"} {
		if err := p.run(ctx, "go", "build", "-ldflags", flags, "-o", filepath.Join(p.dir, filepath.Base(name)), "./"+name); err != nil {
			return nil, err
		}
	}
	if err := p.packages(ctx, filepath.Join(dir, "packages")); err != nil {
		return nil, err
	}
	return p, nil
}

// packages makes package files as make package does.
func (p *programs) packages(ctx context.Context, dir string) error {
	crds, err := filepath.Glob(filepath.Join(p.root, "apis", "crds", "koldun.m.gorizond.io_*.yaml"))
	if err != nil {
		return err
	}
	for name, more := range map[string][]string{
		"configuration:latest": {filepath.Join(p.root, "crossplane.yaml")},
		"function:v0.1.0":      nil,
		"provider:v0.1.0":      crds,
	} {
		folder, _, _ := strings.Cut(name, ":")
		stage := filepath.Join(dir, folder)
		if err := os.CopyFS(stage, os.DirFS(filepath.Join(p.root, "package", folder))); err != nil {
			return err
		}
		for _, file := range more {
			raw, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(stage, filepath.Base(file)), raw, 0o644); err != nil {
				return err
			}
		}
		file := stage + ".xpkg"
		if err := p.run(ctx, filepath.Join(p.dir, "build"), "package", "--stage", stage, "--out", file); err != nil {
			return err
		}
		p.xpkg[host+"koldun-"+name] = file
	}
	return nil
}

func (p *programs) run(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = p.root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot run %s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
