package cluster_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/testpackage"
)

const functionPackage = `
apiVersion: meta.pkg.crossplane.io/v1
kind: Function
metadata:
  name: notes-function
spec:
  capabilities: [composition]
  crossplane: {version: ">=v2.4.0"}
`

const configurationPackage = `
apiVersion: meta.pkg.crossplane.io/v1
kind: Configuration
metadata:
  name: notes
spec:
  crossplane: {version: ">=v2.4.0"}
  dependsOn:
    - {apiVersion: pkg.crossplane.io/v1, kind: Function, package: packages.example.org/tests/notes-function, version: "%s"}
---
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: notes.tests.example.org
spec:
  scope: Namespaced
  group: tests.example.org
  names: {kind: Note, plural: notes}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties: {text: {type: string}}
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: notes
spec:
  compositeTypeRef: {apiVersion: tests.example.org/v1, kind: Note}
  mode: Pipeline
  pipeline: [{step: compose, functionRef: {name: tests-notes-function}}]
`

const note = `
apiVersion: tests.example.org/v1
kind: Note
metadata: {name: hello}
spec: {text: Hello}
`

// notes composes a ConfigMap, which core may write with its own rights.
type notes struct {
	fnv1.UnimplementedFunctionRunnerServiceServer
}

func (notes) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, 0)
	rsp.Meta.Ttl = durationpb.New(0)
	text := req.GetObserved().GetComposite().GetResource().GetFields()["spec"].GetStructValue().GetFields()["text"].GetStringValue()
	object, err := structpb.NewStruct(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"text": text},
	})
	if err != nil {
		return nil, err
	}
	rsp.Desired = &fnv1.State{Resources: map[string]*fnv1.Resource{"text": {Resource: object, Ready: fnv1.Ready_READY_TRUE}}}
	return rsp, nil
}

// Installing one Configuration by its digest installs its dependencies, which it names by
// theirs, as releases do.
func TestConfigurationIsInstalledFromPackages(t *testing.T) {
	c := shared.Cluster(t)
	ctx := t.Context()
	dir := t.TempDir()
	files := map[string]string{}
	build := func(ref, yaml string) (digest string) {
		t.Helper()
		files[ref] = filepath.Join(dir, filepath.Base(ref))
		if err := os.WriteFile(files[ref], testpackage.Build(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		digest, err := cluster.PackageDigest(files[ref])
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	dependency := build("packages.example.org/tests/notes-function:v1.2.0", functionPackage)
	digest := build("packages.example.org/tests/notes:v1.0.0", fmt.Sprintf(configurationPackage, dependency))
	if err := c.ServePackages(ctx, files); err != nil {
		t.Fatal(err)
	}
	err := c.Apply(ctx, fmt.Sprintf(`{apiVersion: pkg.crossplane.io/v1, kind: Configuration, metadata: {name: notes}, spec: {package: "packages.example.org/tests/notes:v1.0.0@%s"}}`, digest))
	if err != nil {
		t.Fatal(err)
	}
	const function = "tests-notes-function" // the package manager names it by its repository
	cluster.Eventually(t, "the Function to be installed", holds(c, "", "pkg.crossplane.io/v1", "Function", function, "Installed"))
	if err := c.ServeFunction(ctx, function, notes{}); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"Function", "Configuration"} {
		name := map[string]string{"Function": function, "Configuration": "notes"}[kind]
		cluster.Eventually(t, kind+" to be healthy", holds(c, "", "pkg.crossplane.io/v1", kind, name, "Healthy"))
	}

	ns := c.Namespace(t)
	if err := c.ApplyIn(ctx, ns, note); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the Note to be ready", ready(c, ns, "tests.example.org/v1", "Note", "hello"))

	// After a kill, Crossplane continues where it stopped.
	c.Crossplane().Kill()
	if err := c.Client().DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	if err := c.Crossplane().Start(); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the ConfigMap to be composed again", func(ctx context.Context) error {
		var list corev1.ConfigMapList
		if err := c.Client().List(ctx, &list, client.InNamespace(ns)); err != nil {
			return err
		}
		if len(list.Items) != 1 || list.Items[0].Data["text"] != "Hello" {
			return os.ErrNotExist
		}
		return nil
	})
}
