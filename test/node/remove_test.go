package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/cluster"
)

// TestRemove runs the commands of the chart's README that remove everything. It runs after the
// tests that are not parallel, and make e2e chooses it beside such tests only.
func TestRemove(t *testing.T) {
	w := koldun(t)
	t.Parallel()
	tell("Removal: the commands of the chart's README remove everything.")
	script := removal(t)
	if !strings.Contains(script, "helm uninstall koldun") {
		t.Fatalf("the chart's README does not uninstall it:\n%s", script)
	}
	began := time.Now()
	w.installer.bash(t, script)
	cluster.Eventually(t, "nothing of Koldun to be left", func(ctx context.Context) error {
		left, err := w.leftovers.remains(ctx)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("there are %s", strings.Join(left, ", "))
		}
		return err
	})
	tell("Nothing of Koldun is left after %s", time.Since(began).Round(time.Second))
}

// removal returns the commands of the chart's README that remove everything.
func removal(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repository, "package", "chart", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(raw), "\nTo remove everything,")
	_, text, _ = strings.Cut(text, "\n\n")
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

// remains returns what is left of Koldun, its servers and Crossplane, but for the CRDs of
// Crossplane, which others may use, and volumes, which their class keeps or deletes.
func (l *leftovers) remains(ctx context.Context) ([]string, error) {
	var left []string
	for _, kind := range []string{"customresourcedefinitions", "clusterroles", "clusterrolebindings", "namespaces", "validatingwebhookconfigurations", "mutatingwebhookconfigurations"} {
		out, err := l.RunKubectl(ctx, "get", kind, "--output=name")
		if err != nil {
			return nil, err
		}
		for name := range strings.Lines(out) {
			name = strings.TrimSpace(name)
			if ofKoldun(name) {
				left = append(left, name)
			}
		}
	}
	return left, nil
}

// ofKoldun reports whether a cluster-scoped object is Koldun's, of its servers, or of a
// Crossplane without its CRDs.
func ofKoldun(name string) bool {
	kind, name, _ := strings.Cut(name, "/")
	switch {
	case strings.HasPrefix(kind, "customresourcedefinition"):
		return strings.Contains(name, "koldun")
	case kind == "namespace":
		return name == "nats" || name == "s3" || name == "crossplane-system"
	}
	return strings.Contains(name, "koldun") || strings.Contains(name, "crossplane")
}
