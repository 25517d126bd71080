// Package platform sets up a test control plane as a platform team sets up a
// cluster: with Koldun's packages, their Provider and Function, connections to NATS,
// an object store and a hub, and a node that runs pods.
//
// Tests and `make control-plane` start it.
package platform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/node"
	"github.com/gorizond/koldun/test/waittest"
)

const (
	// The package manager names the dependencies of a Configuration by their
	// repositories.
	functionName = "gorizond-koldun-function"
	providerName = "gorizond-koldun-provider"

	// image is the image of all pods. The node runs its program.
	image = host + "koldun:control-plane"

	// installed is the time limit for Koldun's packages to become healthy,
	// which takes half a minute of CPU time.
	installed = 10 * time.Minute
	lookEvery = 200 * time.Millisecond
)

// A Platform is a cluster with everything that Koldun needs.
type Platform struct {
	*cluster.Cluster
	Node *node.Node

	root, provider string // the repository, and the provider's program
	cancel         context.CancelFunc
	done           chan struct{} // closed when runPackages has returned
	err            error         // read after done
}

// Start prepares a cluster with Crossplane. root is the repository; dir stores its
// packages and the files of pods; s must be reachable until Stop, and is empty if the
// caller makes a ClusterProviderConfig. Koldun's packages are served by their published
// names, but not installed: see [Platform.Install].
func Start(ctx context.Context, c *cluster.Cluster, root, dir string, s Services) (*Platform, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	files, err := Packages(ctx, root, dir, "configuration")
	if err != nil {
		return nil, err
	}
	koldun, err := Build(ctx, root, "cmd/koldun")
	if err != nil {
		return nil, err
	}
	provider, err := Build(ctx, root, "provider")
	if err != nil {
		return nil, err
	}
	if err := c.ServePackages(ctx, files); err != nil {
		return nil, err
	}
	n, err := node.New(c.Config(), filepath.Join(dir, "node"), node.Options{
		Image: image, Binary: koldun,
	})
	if err != nil {
		return nil, err
	}
	p := &Platform{Cluster: c, Node: n, root: root, provider: provider, done: make(chan struct{})}
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(p.done)
		p.err = p.runPackages(ctx, s)
	}()
	return p, nil
}

// Stop stops the node and its pods, and leaves the cluster running.
func (p *Platform) Stop() {
	p.cancel()
	<-p.done
	p.Node.Stop()
}

// Install applies package/install.yaml, as the README describes, and waits until
// the API server accepts claims.
func (p *Platform) Install(ctx context.Context) error {
	manifest, err := os.ReadFile(p.Manifest())
	if err != nil {
		return err
	}
	if err := p.Apply(ctx, string(manifest)); err != nil {
		return err
	}
	return p.Ready(ctx)
}

// Manifest returns the path of package/install.yaml.
func (p *Platform) Manifest() string {
	return filepath.Join(p.root, "package", "install.yaml")
}

// Ready waits until Koldun's packages are healthy, however they are installed.
func (p *Platform) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(installed))
	defer cancel()
	select {
	case <-p.done:
		if p.err != nil {
			return p.err
		}
	case <-ctx.Done():
		return errors.New("cannot install Koldun: Crossplane has installed no Function and Provider in time")
	}
	for _, plural := range []string{"models", "dllamas", "roots", "workers", "sessions", "ingresses"} {
		if err := p.holds(ctx, "apiextensions.crossplane.io/v2", "CompositeResourceDefinition", plural+".koldun.gorizond.io", "Established"); err != nil {
			return err
		}
	}
	for kind, name := range map[string]string{"Configuration": "koldun", "Function": functionName, "Provider": providerName} {
		if err := p.holds(ctx, packages, kind, name, "Healthy"); err != nil {
			return err
		}
	}
	return p.Controllers().Restart() // so that its garbage collector knows the new kinds
}

// holds waits until a condition of a cluster-scoped object is true.
func (p *Platform) holds(ctx context.Context, apiVersion, kind, name, condition string) error {
	return until(ctx, fmt.Sprintf("%s %q to be %s", kind, name, condition), func(ctx context.Context) error {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
		if err := p.Client().Get(ctx, client.ObjectKey{Name: name}, o); err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			if m, ok := c.(map[string]any); ok && m["type"] == condition && m["status"] == "True" {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %v", conditions)
	})
}

// until calls look until it returns nil. If ctx ends before, the error wraps the last
// one of look.
func until(ctx context.Context, what string, look func(context.Context) error) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var last error
	for {
		err := look(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cannot wait any longer for %s: %w", what, last)
		case <-tick.C:
		}
	}
}
