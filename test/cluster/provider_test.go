package cluster_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/testpackage"
)

const providerPackage = `
apiVersion: meta.pkg.crossplane.io/v1
kind: Provider
metadata:
  name: provider-things
spec:
  crossplane: {version: ">=v2.4.0"}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.m.tests.example.org
spec:
  group: m.tests.example.org
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList, categories: [crossplane, managed]}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {providerConfigRef: {type: object, properties: {name: {type: string}}}}}}}}
`

// The provider of a package has the rights that Crossplane grants to providers.
func TestProviderIsInstalledFromPackage(t *testing.T) {
	c := shared.Cluster(t)
	ctx := t.Context()
	file := filepath.Join(t.TempDir(), "provider.xpkg")
	if err := os.WriteFile(file, testpackage.Build(providerPackage), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.ServePackages(ctx, map[string]string{"packages.example.org/tests/provider-things:v0.1.0": file}); err != nil {
		t.Fatal(err)
	}
	err := c.Apply(ctx, `{apiVersion: pkg.crossplane.io/v1, kind: Provider, metadata: {name: things}, spec: {package: "packages.example.org/tests/provider-things:v0.1.0"}}`)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := c.ConnectProvider(ctx, "things")
	if err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the Provider to be healthy", holds(c, "", "pkg.crossplane.io/v1", "Provider", "things", "Healthy"))

	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	provider, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list := func(apiVersion, kind string) error {
		l := &unstructured.UnstructuredList{}
		l.SetAPIVersion(apiVersion)
		l.SetKind(kind)
		return provider.List(ctx, l)
	}
	cluster.Eventually(t, "the provider to see its resources", func(context.Context) error {
		return list("m.tests.example.org/v1", "ThingList")
	})
	if err := list("apps/v1", "StatefulSetList"); err == nil {
		t.Error("the provider sees StatefulSets, which are none of its business")
	}
}
