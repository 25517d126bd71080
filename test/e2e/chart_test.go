package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// chartValues are those of all tests: the test cluster runs Crossplane, and claims of tests
// use images of their own.
const chartValues = "crossplane.install=false,platform.singleTeam=true"

// The APIs of Crossplane's packages, and of their runtimes.
const packages, runtimes = "pkg.crossplane.io/v1", "pkg.crossplane.io/v1beta1"

// try returns a function that runs a command of Helm on the release, with Koldun's chart
// unless it uninstalls it.
func (i *installer) try(t *testing.T) func(command string, args ...string) error {
	t.Helper()
	helm, err := platform.NewHelm(repository, i.Kubeconfig(), t.TempDir())
	if err != nil {
		cluster.Missing(t, "helm", "make bin/helm")
	}
	chart, err := platform.Chart(t.Context(), repository, t.TempDir(), platform.Unreleased)
	if err != nil {
		t.Fatal(err)
	}
	return func(command string, args ...string) error {
		if command != "uninstall" {
			args = append(args, chart)
		}
		_, err := helm.Run(t.Context(), command, args...)
		return err
	}
}

// helm is like try, and fails the test if the command fails.
func (i *installer) helm(t *testing.T) func(command string, args ...string) {
	t.Helper()
	try := i.try(t)
	return func(command string, args ...string) {
		t.Helper()
		if err := try(command, args...); err != nil {
			t.Fatal(err)
		}
	}
}

// TestChart tests the life of a release that installed Koldun: it changes a value and keeps
// the others, refuses what would break claims, and leaves claims and all that they need when
// it is uninstalled. Installed again it takes them over.
func TestChart(t *testing.T) {
	t.Parallel()
	p := installed(t, "Namespaced")
	ctx, ns := t.Context(), p.Namespace(t)
	try, helm := p.installer.try(t), p.installer.helm(t)
	managed := v1alpha1.GroupVersion.String()
	connection := v1alpha1.GroupVersion.WithKind(v1alpha1.KindClusterProviderConfig)
	defer p.cleanup.remove(t, connection, "default")

	helm("upgrade", "--reuse-values", "--set", "function.replicas=2,connection.nats.url=nats://nats:4222")
	if replicas := p.field(t, runtimes, "DeploymentRuntimeConfig", "koldun-function", "spec", "deploymentTemplate", "spec", "replicas"); replicas != int64(2) {
		t.Errorf("after the upgrade the Function has %v replicas, want 2", replicas)
	}
	p.field(t, "apiextensions.crossplane.io/v1beta1", "EnvironmentConfig", "koldun-platform", "data") // of a value that the upgrade does not name
	if names := p.field(t, managed, connection.Kind, "default", "spec", "allowedNamespaces", "names"); fmt.Sprint(names) != "[*]" {
		t.Errorf("the connection allows the namespaces %v, want all", names)
	}
	owners := p.field(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "clusterproviderconfigs."+v1alpha1.GroupVersion.Group, "metadata", "ownerReferences")
	if !strings.Contains(fmt.Sprint(owners), "kind:ProviderRevision") {
		t.Errorf("the CRD that the chart created has the owners %v, want the Provider's package to have taken it over", owners)
	}

	for set, want := range map[string]string{
		"flavour=claims":          "delete all claims",
		"crossplane.install=true": "has Crossplane already",
		"connection.nats.url=nats://a:1,connection.nats.operator.servers=0": "servers",
	} {
		if err := try("upgrade", "--reuse-values", "--set", set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("upgrade with %s: the error is %v, want it to say %q", set, err, want)
		}
	}

	claim := strings.Replace(read(t, repository+"/examples/quickstart/dllama.yaml"), "  namespace: default\n", "", 1)
	if err := p.ApplyIn(ctx, ns, claim); err != nil {
		t.Fatal(err)
	}
	before := p.kept(t, ns)
	helm("uninstall", "--wait")
	if diff := cmp.Diff(before, p.kept(t, ns)); diff != "" {
		t.Errorf("helm uninstall has replaced objects:\n%s", diff)
	}
	helm("install", "--set", chartValues)
	if diff := cmp.Diff(before, p.kept(t, ns)); diff != "" {
		t.Errorf("helm install after helm uninstall has replaced objects:\n%s", diff)
	}
	for kind, name := range map[string]string{"Configuration": "koldun", "Function": functionName, "Provider": providerName} {
		cluster.Eventually(t, kind+" to be healthy", p.holds("", packages, kind, name, "Healthy"))
	}
	if err := p.Delete(ctx, ns, claim); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the claim to be gone", func(ctx context.Context) error {
		if _, err := p.get(ctx, ns, api, "Dllama", "koldun-tiny"); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it exists: %w", err)
		}
		return nil
	})
}

// kept returns the UIDs of the quickstart's claim in ns and of what it needs, none of which
// may be missing or in deletion.
func (ob *objects) kept(t *testing.T, ns string) map[string]types.UID {
	t.Helper()
	out := map[string]types.UID{}
	for _, o := range []struct{ namespace, apiVersion, kind, name string }{
		{ns, api, "Dllama", "koldun-tiny"},
		{"", v1alpha1.GroupVersion.String(), v1alpha1.KindClusterProviderConfig, "default"},
		{"", packages, "Configuration", "koldun"},
		{"", packages, "Function", functionName},
		{"", packages, "Provider", providerName},
		{"", runtimes, "DeploymentRuntimeConfig", "koldun-provider"},
		{"", "rbac.authorization.k8s.io/v1", "ClusterRole", "koldun:provider"},
		{"", "apiextensions.crossplane.io/v2", "CompositeResourceDefinition", "dllamas.koldun.gorizond.io"},
	} {
		object, err := ob.get(t.Context(), o.namespace, o.apiVersion, o.kind, o.name)
		if err != nil {
			t.Fatal(err)
		}
		if deleted := object.GetDeletionTimestamp(); deleted != nil {
			t.Errorf("%s %q is being deleted since %v", o.kind, o.name, deleted)
		}
		out[o.kind] = object.GetUID()
	}
	return out
}

// field returns a field of a cluster-scoped object, which must have it.
func (ob *objects) field(t *testing.T, apiVersion, kind, name string, path ...string) any {
	t.Helper()
	object, err := ob.get(t.Context(), "", apiVersion, kind, name)
	if err != nil {
		t.Fatal(err)
	}
	value, found, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	if err != nil || !found {
		t.Fatalf("%s %q has no %s: %v", kind, name, strings.Join(path, "."), err)
	}
	return value
}
