package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/engine/distributedllama"
)

// program builds the program in a folder of the repository for a platform, such as
// linux/amd64, and returns its content. variables are set by the linker, and so is the digest
// of the default image of rings.
func (b *build) program(ctx context.Context, name, folder, platform string, variables map[string]string) ([]byte, error) {
	system, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return nil, fmt.Errorf("cannot build for platform %q: write it as linux/amd64", platform)
	}
	work, err := os.MkdirTemp("", "koldun-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work) //nolint:errcheck // a temporary folder
	flags := "-s -w -X main.version=" + b.version
	if digest := b.foreign[distributedllama.Image]; digest != "" {
		flags += " -X github.com/gorizond/koldun/internal/engine/distributedllama.digest=" + digest
	}
	for _, variable := range sorted(variables) {
		flags += " -X " + variable + "=" + variables[variable]
	}
	path := filepath.Join(work, "program")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath="+strconv.FormatBool(b.trimpath), "-ldflags", flags, "-o", path, "./"+folder)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cannot build %s for %s: %w\n%s", folder, platform, err, out)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return content, b.note(name, content)
}
