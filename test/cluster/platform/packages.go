package platform

import (
	"context"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
)

// packages is the API of Crossplane's package manager.
const packages = "pkg.crossplane.io/v1"

// runPackages waits until the Provider and the Function are installed, runs them as
// the package runtime "External" requires, and applies the connection settings if s has any.
func (p *Platform) runPackages(ctx context.Context, s Services) error {
	if err := p.exists(ctx, packages, "Provider", providerName); err != nil {
		return err
	}
	kubeconfig, err := p.ConnectProvider(ctx, providerName)
	if err != nil {
		return err
	}
	if err := p.exists(ctx, packages, "Function", functionName); err != nil {
		return err
	}
	if err := p.ServeFunction(ctx, functionName, router.New(compose.Config{Image: image})); err != nil {
		return err
	}
	if err := p.holds(ctx, packages, "Provider", providerName, "Healthy"); err != nil {
		return err
	}
	env := []string{"KUBECONFIG=" + kubeconfig}
	if _, err := p.Run("koldun-provider", p.provider, env, "--no-leader-election", "--metrics=0", "--health="); err != nil {
		return err
	}
	var manifests []string
	if s.NATS.URL != "" {
		if manifests, err = s.Manifests(); err != nil {
			return err
		}
	}
	open, err := os.ReadFile(filepath.Join(p.root, "package", "single-team.yaml"))
	if err != nil {
		return err
	}
	return p.Apply(ctx, append(manifests, string(open))...)
}

// exists waits until a cluster-scoped object exists or ctx ends.
func (p *Platform) exists(ctx context.Context, apiVersion, kind, name string) error {
	return until(ctx, kind+" "+name, func(ctx context.Context) error {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
		return p.Client().Get(ctx, client.ObjectKey{Name: name}, o)
	})
}
