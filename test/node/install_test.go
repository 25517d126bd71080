package node_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// koldun returns the cluster with Koldun, which the first test installs.
func koldun(t *testing.T) *world {
	t.Helper()
	shared.install.Do(func() { shared.failed = shared.installKoldun(t) })
	if shared.failed != nil {
		t.Fatal("cannot install Koldun: ", shared.failed)
	}
	return shared
}

// installKoldun installs Koldun as the README says: with Crossplane, NATS and an object
// store.
func (w *world) installKoldun(t *testing.T) error {
	t.Helper()
	ctx := t.Context()
	tell("Pushing images ...")
	if err := w.pushImages(ctx); err != nil {
		return err
	}
	// The kind of the mirror comes with the chart, which creates it before all else.
	crd, err := os.ReadFile(filepath.Join(repository, "bin", "crossplane.d", "crds", "pkg.crossplane.io_imageconfigs.yaml"))
	if err != nil {
		return err
	}
	if err := w.Apply(ctx, string(crd)); err != nil {
		return err
	}
	for _, name := range []string{"mirrors.yaml", "hub.yaml"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			return err
		}
		if err := w.Apply(ctx, strings.ReplaceAll(string(raw), "REGISTRY", w.registry)); err != nil {
			return err
		}
	}
	helm, err := platform.NewHelm(repository, w.Kubeconfig(), t.TempDir())
	if err != nil {
		return err
	}
	chart, err := platform.Chart(ctx, repository, t.TempDir(), version)
	if err != nil {
		return err
	}
	tell("helm install koldun, flavour %s ...", flavour())
	if _, err := helm.Run(ctx, "install", chart, "--create-namespace", "--values", "testdata/values.yaml", "--set", "flavour="+flavour()); err != nil {
		return err
	}
	tell("Waiting until Koldun is ready ...")
	cluster.Eventually(t, "Koldun's packages to be healthy", func(ctx context.Context) error {
		_, err := w.RunKubectl(ctx, "wait", "--timeout=10s", "--for=condition=Healthy", "configurations.pkg.crossplane.io/koldun",
			"functions.pkg.crossplane.io/gorizond-koldun-function", "providers.pkg.crossplane.io/gorizond-koldun-provider")
		return err
	})
	tell("Koldun is ready")
	return nil
}

// flavour returns the flavour of Koldun's Configuration.
func flavour() string { return cmp.Or(os.Getenv(flavourEnv), "namespaced") }
