package node_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/node/kubernetes"
)

// A world is a cluster with what tests of this package share. It is safe for concurrent use.
type world struct {
	*cluster.Cluster
	node     *kubernetes.Node // nil for a current cluster
	registry string

	install sync.Once
	failed  error // why Koldun could not be installed
}

func (w *world) close() {
	if w.node != nil {
		w.node.Close()
	}
}

// began is when the tests began.
var began = time.Now() //nolint:gochecknoglobals // a constant in all but syntax

// tell prints a line of the story, with the time since the tests began.
func tell(format string, args ...any) {
	fmt.Printf("%4.0fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}

// program runs a program of the repository against the cluster, and returns what it prints.
func (w *world) program(ctx context.Context, name string, args ...string) (string, error) {
	path, err := filepath.Abs(filepath.Join(repository, "bin", name))
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+w.Kubeconfig())
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("cannot run %s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// kubectl runs kubectl, and fails the test if that fails.
func (w *world) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := w.program(t.Context(), "kubectl", args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
