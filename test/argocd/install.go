package argocd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Namespace is the namespace of Argo CD and its Applications.
const Namespace = "argocd"

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

// install applies Argo CD's CRDs and settings, and then Koldun's health scripts, as
// package/argocd/README.md says.
func (a *ArgoCD) install(ctx context.Context) error {
	if err := a.ApplyIn(ctx, "", "{apiVersion: v1, kind: Namespace, metadata: {name: "+Namespace+"}}"); err != nil {
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
		if err := a.ApplyIn(ctx, Namespace, string(raw)); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	return a.ApplyIn(ctx, Namespace, projects)
}
