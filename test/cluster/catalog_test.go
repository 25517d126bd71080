package cluster_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
	"github.com/gorizond/koldun/test/cluster/testpackage"
	"github.com/gorizond/koldun/test/sourcetest"
)

// releases publishes versions of the Function and returns their entries in the catalogue,
// as make catalog writes them.
func releases(t *testing.T, c *cluster.Cluster, versions ...string) (entries map[string]string) {
	t.Helper()
	dir := t.TempDir()
	program, err := platform.Build(t.Context(), "../..", "package/generate")
	if err != nil {
		t.Fatal(err)
	}
	if err := sourcetest.Folders("../../apis"); err != nil { // which the program reads
		t.Fatal(err)
	}
	apis, err := filepath.Abs("../../apis")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(apis, filepath.Join(dir, "apis")); err != nil {
		t.Fatal(err)
	}
	entries, served := map[string]string{}, map[string]string{}
	for _, version := range versions {
		pkg := filepath.Join(dir, version+".xpkg")
		content := "# " + version + "\n" + file(t, "../../package/function/crossplane.yaml")
		if err := os.WriteFile(pkg, testpackage.Build(content), 0o600); err != nil {
			t.Fatal(err)
		}
		digest, err := cluster.PackageDigest(pkg)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, "release", version, digest)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("cannot release %s: %v: %s", version, err, out)
		}
		entries[version] = file(t, filepath.Join(dir, "package", "catalog", version, "namespaced.yaml"))
		served["ghcr.io/gorizond/koldun-function:"+version] = pkg
	}
	if err := c.ServePackages(t.Context(), served); err != nil {
		t.Fatal(err)
	}
	return entries
}

// TestCatalogueServesOldVersions installs two versions of the catalogue beside a newer
// Configuration, whose Function is updated: a pinned resource stays, others follow, and a
// change of the reference upgrades a resource in place.
func TestCatalogueServesOldVersions(t *testing.T) {
	c := shared.Cluster(t)
	ctx := t.Context()
	packaged(t, c, "workers")
	serve := func(function, image string) {
		t.Helper()
		if err := c.ServeFunction(ctx, function, router.New(compose.Config{Image: image, Trusted: true})); err != nil {
			t.Fatal(err)
		}
	}
	serve(packageFunction, "koldun:v0.3.0")
	for version, entry := range releases(t, c, "v0.1.0", "v0.2.0") {
		if err := c.Apply(ctx, entry); err != nil {
			t.Fatal(err)
		}
		function := packageFunction + "-" + strings.ReplaceAll(version, ".", "-")
		cluster.Eventually(t, function+" to be installed", holds(c, "", "pkg.crossplane.io/v1", "Function", function, "Installed"))
		serve(function, "koldun:"+version)
		cluster.Eventually(t, function+" to be healthy", holds(c, "", "pkg.crossplane.io/v1", "Function", function, "Healthy"))
	}

	ns := c.Namespace(t)
	apply := func(name, composition string, replicas int) {
		t.Helper()
		ref := ""
		if composition != "" {
			ref = "compositionRef: {name: " + composition + "}"
		}
		if err := c.ApplyIn(ctx, ns, fmt.Sprintf("{apiVersion: koldun.gorizond.io/v1, kind: Worker, metadata: {name: %s}, spec: {image: dllama, replicas: %d, crossplane: {%s}}}", name, replicas, ref)); err != nil {
			t.Fatal(err)
		}
	}
	runs := func(name, version string, replicas int) {
		t.Helper()
		for _, part := range []string{`"koldun:` + version + `"`, fmt.Sprintf(`"replicas":%d,`, replicas)} {
			cluster.Eventually(t, name+" to run "+part, contains(c, ns, "apps/v1", "StatefulSet", name+"-worker", part))
		}
	}
	const of = "workers.koldun.gorizond.io"
	apply("follows", "", 1)
	apply("stays", of+"-v0-1-0", 1)
	apply("upgrades", of+"-v0-1-0", 1)
	runs("follows", "v0.3.0", 1)
	runs("stays", "v0.1.0", 1)
	runs("upgrades", "v0.1.0", 1)

	serve(packageFunction, "koldun:v0.4.0") // as an update of the Configuration
	apply("follows", "", 2)
	apply("stays", of+"-v0-1-0", 2)
	apply("upgrades", of+"-v0-2-0", 2)
	runs("follows", "v0.4.0", 2)
	runs("stays", "v0.1.0", 2)
	runs("upgrades", "v0.2.0", 2)

	apply("upgrades", of, 2)
	runs("upgrades", "v0.4.0", 2)
}
