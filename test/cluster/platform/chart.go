package platform

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Unreleased is the version of everything in the repository.
const Unreleased = "v0.0.0"

// Chart builds a version of Koldun's Helm chart in dir, as make chart does, and returns its
// file.
func Chart(ctx context.Context, root, dir, version string) (string, error) {
	builder, err := Build(ctx, root, "package/build")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "koldun.tgz")
	return file, run(ctx, root, builder, "chart", "--version", version, "--out", file)
}

// A Helm runs Helm.
type Helm struct {
	program, kubeconfig, dir string
}

// NewHelm returns the Helm of the repository at root, for the cluster of a kubeconfig. It
// keeps what it stores in dir. The error is that of os.Stat if Helm is not built.
func NewHelm(root, kubeconfig, dir string) (*Helm, error) {
	program, err := filepath.Abs(filepath.Join(root, "bin", "helm"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(program); err != nil {
		return nil, err
	}
	return &Helm{program: program, kubeconfig: kubeconfig, dir: dir}, nil
}

// Run runs a command of Helm on the release koldun in the namespace of Crossplane, and
// returns what it prints. An error ends with what Helm says.
func (h *Helm) Run(ctx context.Context, command string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, h.program, append([]string{command, "koldun", "--namespace", "crossplane-system"}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+h.kubeconfig, "HELM_CACHE_HOME="+h.dir, "HELM_CONFIG_HOME="+h.dir, "HELM_DATA_HOME="+h.dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("cannot run helm %s: %w: %s", command, err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}
