package node_test

import (
	"cmp"
	"context"
	"fmt"
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
	if err := w.applyOthers(ctx); err != nil {
		return err
	}
	tell("helm install koldun, flavour %s ...", flavour())
	args := []string{"--install", "--create-namespace", "--values", "testdata/values.yaml", "--set", "flavour=" + flavour()}
	for _, value := range w.images() {
		args = append(args, "--set", value)
	}
	if err := w.helm(t, version, "upgrade", args...); err != nil {
		return err
	}
	tell("Waiting until Koldun is ready ...")
	w.healthy(t, version)
	tell("Koldun is ready")
	return nil
}

// applyOthers applies a hub, and for a node what makes Crossplane pull from the registry of
// the tests.
func (w *world) applyOthers(ctx context.Context) error {
	files := []string{filepath.Join("testdata", "hub.yaml")}
	if w.node != nil {
		// The kind of the mirror comes with the chart, which creates it before all else.
		files = append(files, filepath.Join(repository, "bin", "crossplane.d", "crds", "pkg.crossplane.io_imageconfigs.yaml"), filepath.Join("testdata", "mirrors.yaml"))
	}
	for _, name := range files {
		raw, err := os.ReadFile(filepath.Clean(name))
		if err != nil {
			return err
		}
		if err := w.Apply(ctx, strings.ReplaceAll(string(raw), "REGISTRY", w.registry)); err != nil {
			return err
		}
	}
	return nil
}

// images returns the values of the chart that make a cluster pull all images from the
// registry of the tests. The node has a mirror instead, and the usual names.
func (w *world) images() []string {
	if w.node != nil {
		return nil
	}
	var values []string
	for value, repository := range map[string]string{
		"packages.registry": "gorizond", "crossplane.image.repository": "crossplane/crossplane",
		"nats.image.repository": "library/nats", "s3.image.repository": "versity/versitygw",
	} {
		values = append(values, value+"="+w.registry+"/"+repository)
	}
	return values
}

// helm runs a command of Helm with a version of Koldun's chart.
func (w *world) helm(t *testing.T, version, command string, args ...string) error {
	t.Helper()
	helm, err := platform.NewHelm(repository, w.Kubeconfig(), t.TempDir())
	if err != nil {
		return err
	}
	chart, err := platform.Chart(t.Context(), repository, t.TempDir(), version)
	if err != nil {
		return err
	}
	_, err = helm.Run(t.Context(), command, append(args, chart)...)
	return err
}

// healthy waits until a version of Koldun's packages is healthy.
func (w *world) healthy(t *testing.T, version string) {
	t.Helper()
	for _, name := range []string{"configurations.pkg.crossplane.io/koldun", "functions.pkg.crossplane.io/gorizond-koldun-function", "providers.pkg.crossplane.io/gorizond-koldun-provider"} {
		cluster.Eventually(t, name+" to be healthy", func(ctx context.Context) error {
			out, err := w.RunKubectl(ctx, "get", name, `--output=jsonpath={.status.currentIdentifier} {.status.conditions[?(@.type=="Healthy")].status}`)
			if err == nil && !strings.HasSuffix(out, ":"+version+" True") {
				err = fmt.Errorf("it is %q", out)
			}
			return err
		})
	}
}

// flavour returns the flavour of Koldun's Configuration.
func flavour() string { return cmp.Or(os.Getenv(flavourEnv), "namespaced") }
