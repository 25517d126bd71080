package argocd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
)

// Namespace is the namespace of Argo CD and its Applications.
const Namespace = "argocd"

// fieldManager is the field manager of what this package applies.
const fieldManager = "koldun-argocd-test"

// projects holds what Argo CD's API server writes when it starts: without a key the
// application controller does not take changes of argocd-cm.
const projects = `
apiVersion: v1
kind: Secret
metadata: {name: argocd-secret}
stringData: {server.secretkey: a-key-of-the-test}
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default}
spec:
  sourceRepos: ['*']
  destinations: [{server: '*', namespace: '*'}]
  clusterResourceWhitelist: [{group: '*', kind: '*'}]
`

func newClient(kubeconfig string) (client.Client, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("cannot read kubeconfig: %w", err)
	}
	cfg.QPS = -1 // no client-side limit
	cfg.WarningHandler = rest.NoWarnings{}
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot make client: %w", err)
	}
	return c, nil
}

// install applies Argo CD's CRDs and settings, and then Koldun's health scripts, as
// package/argocd/README.md says.
func (a *ArgoCD) install(ctx context.Context) error {
	if err := a.Apply(ctx, "", "{apiVersion: v1, kind: Namespace, metadata: {name: "+Namespace+"}}"); err != nil {
		return err
	}
	var files []string
	for _, folder := range []string{"crds", "config"} {
		found, err := filepath.Glob(filepath.Join(a.root, "bin", "argocd.d", folder, "*-*.yaml")) // not kustomization.yaml
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fmt.Errorf("%w: bin/argocd.d has no %s", errMissing, folder)
		}
		files = append(files, found...)
	}
	for _, path := range append(files, filepath.Join(a.root, "package", "argocd", "argocd-cm.yaml")) {
		raw, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("cannot read manifest: %w", err)
		}
		if err := a.Apply(ctx, Namespace, string(raw)); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	return a.Apply(ctx, Namespace, projects)
}

// Apply applies YAML documents, those without a namespace in the given one. It waits until
// the API server serves their kinds.
func (a *ArgoCD) Apply(ctx context.Context, namespace string, documents ...string) error {
	objects, err := cluster.Decode(documents...)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := a.apply(ctx, namespace, o); err != nil {
			return fmt.Errorf("cannot apply %s %q: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

func (a *ArgoCD) apply(ctx context.Context, namespace string, o *unstructured.Unstructured) error {
	err := cluster.Poll(ctx, func(context.Context) error {
		m, err := a.Client.RESTMapper().RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
		if err != nil {
			return err
		}
		if m.Scope.Name() == meta.RESTScopeNameNamespace && o.GetNamespace() == "" {
			o.SetNamespace(namespace)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(fieldManager), client.ForceOwnership)
}
