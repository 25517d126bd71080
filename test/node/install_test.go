package node_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// koldun returns the cluster with Koldun, which the first test installs.
func koldun(t *testing.T) *environment {
	t.Helper()
	shared.install.Do(func() { shared.failed = shared.installer.install(t) })
	if shared.failed != nil {
		t.Fatal("cannot install Koldun: ", shared.failed)
	}
	return shared
}

// install installs Koldun as the README says: with Crossplane, NATS and an object
// store.
func (i *installer) install(t *testing.T) error {
	t.Helper()
	ctx := t.Context()
	tell("Pushing images ...")
	if err := i.images.push(ctx); err != nil {
		return err
	}
	if err := i.applyOthers(ctx); err != nil {
		return err
	}
	if i.node != nil { // the namespace default of another cluster may have pods of others
		i.Kubectl(t, "label", "namespace/default", podSecurity+"=restricted")
	}
	var err error
	if i.leftovers.before, err = i.Objects(ctx, "default"); err != nil {
		return err
	}
	switch {
	case os.Getenv(installEnv) == "manifests":
		err = i.applyManifests(t)
	case i.node != nil && flavour() == "claims":
		script := installation(t) + " --set flavour=claims --values testdata/claims.yaml"
		tell("%s", script)
		i.bash(t, strings.ReplaceAll(script, onlineChart, mustAbs(t, chart(version))))
	default:
		tell("helm install koldun, flavour %s ...", flavour())
		err = i.helm(t, version, "upgrade", append(i.helmValues(), "--install", "--create-namespace")...)
	}
	if err != nil {
		return err
	}
	tell("Waiting until Koldun is ready ...")
	i.healthy(t, version)
	tell("Koldun is ready")
	return nil
}

// values returns the values of the chart: those of a team, and for claims those that the README
// gives for a single node, with the rights that all have by default.
func values() []string {
	if flavour() == "claims" {
		return []string{"--set", "nats.install=true,s3.install=true,nats.replicas=1,nats.size=2Gi,s3.size=10Gi", "--values", "testdata/claims.yaml"}
	}
	return []string{"--values", "testdata/values.yaml"}
}

// applyOthers applies a hub, and for a node what makes Crossplane pull from the registry of
// the tests.
func (i *installer) applyOthers(ctx context.Context) error {
	files := []string{filepath.Join("testdata", "hub.yaml")}
	if i.node != nil {
		// The kind of the mirror comes with the chart, which creates it before all else.
		files = append(files, filepath.Join(repository, "bin", "crossplane.d", "crds", "pkg.crossplane.io_imageconfigs.yaml"), filepath.Join("testdata", "mirrors.yaml"))
	}
	for _, name := range files {
		raw, err := os.ReadFile(filepath.Clean(name))
		if err != nil {
			return err
		}
		if err := i.Apply(ctx, strings.ReplaceAll(string(raw), "REGISTRY", i.registry)); err != nil {
			return err
		}
	}
	return nil
}

// helmValues returns the arguments of Helm with the values of the chart.
func (i *installer) helmValues() []string {
	args := append(values(), "--set", "flavour="+flavour())
	for _, value := range i.images.values() {
		args = append(args, "--set", value)
	}
	return args
}

// values returns the values of the chart that make a cluster pull all images from the
// registry of the tests. The node has a mirror instead, and the usual names.
func (im *images) values() []string {
	if im.node != nil {
		return nil
	}
	var values []string
	for value, repository := range map[string]string{
		"packages.registry": "gorizond", "crossplane.image.repository": "crossplane/crossplane",
		"nats.image.repository": "library/nats",
	} {
		values = append(values, value+"="+im.registry+"/"+repository)
	}
	return values
}

// applyManifests installs Koldun without Helm, as the README says, with a Kustomization that
// adapts it to a cluster of one node with a hub of its own.
func (i *installer) applyManifests(t *testing.T) error {
	t.Helper()
	dir := t.TempDir()
	for name, file := range map[string]string{"koldun.yaml": released(version, "files", "koldun.yaml"), "kustomization.yaml": "testdata/one-node.yaml"} {
		raw, err := os.ReadFile(filepath.Clean(file))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), raw, 0o600)
		}
		if err != nil {
			return err
		}
	}
	tell("kubectl apply --server-side -f koldun-crds.yaml")
	i.Kubectl(t, "apply", "--server-side", "-f", released(version, "files", "koldun-crds.yaml"))
	tell("kubectl apply --server-side -f koldun.yaml")
	i.Kubectl(t, "apply", "--server-side", "-k", dir)
	return nil
}

// onlineChart is the chart of the newest release.
const onlineChart = "oci://ghcr.io/gorizond/charts/koldun"

// installation returns the command of README.md that installs Koldun, with the values for a
// cluster with a single node.
func installation(t *testing.T) string {
	t.Helper()
	install, _, _ := strings.Cut(commands(t, "In a cluster"), "\n")
	raw, err := os.ReadFile(filepath.Join(repository, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	single := regexp.MustCompile("add `(,nats.replicas=1[^`]*)` to the values\\s+of the first command").FindSubmatch(raw)
	if single == nil || !strings.HasPrefix(install, "helm install koldun "+onlineChart+" ") {
		t.Fatalf("README.md does not tell how to install Koldun in a cluster with a single node: %q", install)
	}
	return install + string(single[1])
}

// chart returns the file of the chart of a release.
func chart(version string) string {
	return released(version, "files", "koldun-"+strings.TrimPrefix(version, "v")+".tgz")
}

// helm runs a command of Helm with the chart of a release, unless it uninstalls it.
func (i *installer) helm(t *testing.T, version, command string, args ...string) error {
	t.Helper()
	helm, err := platform.NewHelm(repository, i.Kubeconfig(), t.TempDir())
	if err != nil {
		return err
	}
	if command != "uninstall" {
		args = append(args, chart(version))
	}
	_, err = helm.Run(t.Context(), command, args...)
	return err
}

// healthy waits until the packages of a release are healthy, and the API server describes
// their kinds.
func (i *installer) healthy(t *testing.T, version string) {
	t.Helper()
	for _, name := range []string{"configurations.pkg.crossplane.io/koldun", "functions.pkg.crossplane.io/gorizond-koldun-function", "providers.pkg.crossplane.io/gorizond-koldun-provider"} {
		cluster.Eventually(t, name+" to be healthy", func(ctx context.Context) error {
			out, err := i.RunKubectl(ctx, "get", name, `--output=jsonpath={.status.currentIdentifier} {.status.conditions[?(@.type=="Healthy")].status}`)
			if err == nil && (!strings.Contains(out, ":"+version+"@sha256:") || !strings.HasSuffix(out, " True")) {
				err = fmt.Errorf("it is %q", out)
			}
			return err
		})
	}
	// kubectl waits half a minute for the descriptions of all kinds, by which it checks what it
	// applies. The API server writes them when it is first asked, which takes longer if the
	// machine is busy.
	if _, err := i.RunKubectl(t.Context(), "get", "--raw=/openapi/v2"); err != nil {
		t.Fatal(err)
	}
}

// flavour returns the flavour of Koldun's Configuration.
func flavour() string { return cmp.Or(os.Getenv(flavourEnv), "namespaced") }
