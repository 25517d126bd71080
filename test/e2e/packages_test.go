package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
)

const (
	repository = "../.."
	// The package manager names the dependencies of a Configuration by their
	// repositories.
	functionName = "gorizond-koldun-function"
	providerName = "gorizond-koldun-provider"

	// image is the image in the golden files.
	image = "ghcr.io/gorizond/koldun:golden"
)

// A flavour is one of the two Configurations.
type flavour struct {
	configuration string   // folder of package/
	chart         bool     // whether Helm installs it, in place of package/install.yaml
	prefix        string   // of the names of XRDs
	conditions    []string // of XRDs
	manifests     []string // to apply in addition to install.yaml
	delivery      string   // how root pods mount the volume of a Model
}

// install installs the packages as the README describes, and waits until the API server
// serves their kinds.
func (i *installer) install(t *testing.T) {
	ctx := t.Context()
	files, err := platform.Packages(ctx, repository, t.TempDir(), i.configuration)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.ServePackages(ctx, files); err != nil {
		t.Fatal(err)
	}
	if i.chart {
		i.helm(t)("install", "--set", chartValues)
	} else {
		i.applyManifests(t)
	}
	if i.providerIdentity, err = i.ConnectProvider(ctx, providerName); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the Function to be installed", i.holds("", packages, "Function", functionName, "Installed"))
	i.serveFunction(t)
	for kind, name := range map[string]string{"Configuration": "koldun", "Function": functionName, "Provider": providerName} {
		cluster.Eventually(t, kind+" to be healthy", i.holds("", packages, kind, name, "Healthy"))
	}
	for _, plural := range []string{"models", "dllamas", "roots", "workers", "sessions", "ingresses"} {
		name := i.prefix + plural + ".koldun.gorizond.io"
		for _, condition := range i.conditions {
			cluster.Eventually(t, name+" to be "+condition, i.holds("", "apiextensions.crossplane.io/v2", "CompositeResourceDefinition", name, condition))
		}
	}
	// A restarted garbage collector discovers the new kinds.
	if err := i.Controllers().Restart(); err != nil {
		t.Fatal(err)
	}
}

// applyManifests applies package/install.yaml with the Configuration of the flavour, and
// what goes with it. Claims of tests use images of their own.
func (i *installer) applyManifests(t *testing.T) {
	t.Helper()
	manifests := []string{strings.ReplaceAll(read(t, repository+"/package/install.yaml"), "koldun-configuration:", "koldun-"+i.configuration+":")}
	for _, m := range append([]string{"package/single-team.yaml"}, i.manifests...) {
		manifests = append(manifests, read(t, filepath.Join(repository, m)))
	}
	if err := i.Apply(t.Context(), manifests...); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files match %s: %v", pattern, err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
