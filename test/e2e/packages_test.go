package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/test/cluster"
)

const (
	repository  = "../.."
	packageHost = "ghcr.io/gorizond/"
	// The package manager names what the Configuration depends on by its
	// repository.
	functionName = "gorizond-koldun-function"
	providerName = "gorizond-koldun-provider"

	// image is the one of the golden files.
	image = "ghcr.io/gorizond/koldun:golden"
)

// build makes package files as make package does, by the names by which users
// know them.
func build(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	builder := filepath.Join(dir, "build")
	run(t, "go", "build", "-o", builder, repository+"/package/build")
	root, claims := filepath.Join(dir, "configuration"), filepath.Join(dir, "claims")
	function, provider := filepath.Join(dir, "function"), filepath.Join(dir, "provider")
	for to, from := range map[string]string{root: "configuration", claims: "configuration-claims", function: "function", provider: "provider"} {
		if err := os.CopyFS(to, os.DirFS(filepath.Join(repository, "package", from))); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(root, "crossplane.yaml"), read(t, repository+"/crossplane.yaml"))
	for _, file := range list(t, repository+"/apis/crds/koldun.m.gorizond.io_*.yaml") {
		write(t, filepath.Join(provider, filepath.Base(file)), read(t, file))
	}
	out := map[string]string{}
	for ref, stage := range map[string]string{
		"koldun-configuration:latest":        root,
		"koldun-configuration-claims:latest": claims,
		"koldun-function:v0.1.0":             function,
		"koldun-provider:v0.1.0":             provider,
	} {
		out[packageHost+ref] = stage + ".xpkg"
		run(t, builder, "package", "--stage", stage, "--out", stage+".xpkg")
	}
	return out
}

// A flavour is one of the two Configurations.
type flavour struct {
	configuration string   // package name
	prefix        string   // of the names of XRDs
	conditions    []string // of XRDs
	manifests     []string // of the repository, to apply besides install.yaml
}

// install does what the README asks for, and waits until the API is there.
func (p *proof) install(t *testing.T, files map[string]string) {
	ctx := t.Context()
	serve := map[string]string{}
	for ref, file := range files {
		// One Configuration is served: its name begins the other's.
		if !strings.Contains(ref, "koldun-configuration") || strings.Contains(ref, p.configuration+":") {
			serve[ref] = file
		}
	}
	if err := p.ServePackages(ctx, serve); err != nil {
		t.Fatal(err)
	}
	manifests := []string{strings.ReplaceAll(read(t, repository+"/package/install.yaml"), "koldun-configuration:", p.configuration+":")}
	for _, m := range p.manifests {
		manifests = append(manifests, read(t, filepath.Join(repository, m)))
	}
	if err := p.Apply(ctx, manifests...); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.providerIdentity, err = p.ConnectProvider(ctx, providerName); err != nil {
		t.Fatal(err)
	}
	const packages = "pkg.crossplane.io/v1"
	cluster.Eventually(t, "the Function to be installed", p.holds("", packages, "Function", functionName, "Installed"))
	p.serveFunction(t)
	for kind, name := range map[string]string{"Configuration": "koldun", "Function": functionName, "Provider": providerName} {
		cluster.Eventually(t, kind+" to be healthy", p.holds("", packages, kind, name, "Healthy"))
	}
	for _, plural := range []string{"models", "dllamas", "roots", "workers", "sessions", "ingresses"} {
		name := p.prefix + plural + ".koldun.gorizond.io"
		for _, condition := range p.conditions {
			cluster.Eventually(t, name+" to be "+condition, p.holds("", "apiextensions.crossplane.io/v2", "CompositeResourceDefinition", name, condition))
		}
	}
	// The garbage collector learns of the new kinds.
	if err := p.Controllers().Restart(); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("cannot run %s: %v\n%s", name, err, out)
	}
}

func list(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no files like %s: %v", pattern, err)
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

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
