// Package platform makes of a test control plane what a platform team makes of
// a cluster: Koldun's packages, the Provider and the Function that come with
// them, a connection to NATS, an object store and a hub, and a node that runs
// pods.
//
// Tests start it, and so does `make control-plane`, for people.
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

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/node"
)

const (
	// The package manager names what the Configuration depends on by its
	// repository.
	functionName = "gorizond-koldun-function"
	providerName = "gorizond-koldun-provider"

	// image of all pods. The node runs its program.
	image = host + "koldun:control-plane"

	// installed is how long Koldun's packages may take to work. It is no measure
	// of speed: machines that run this also compile.
	installed = 10 * time.Minute
	lookEvery = 200 * time.Millisecond
)

// A Platform is a cluster with what Koldun needs.
type Platform struct {
	*cluster.Cluster
	Node *node.Node

	root, provider string // the repository, and the provider's program
	cancel         context.CancelFunc
	done           chan struct{} // closed when the packages are attended to
	err            error         // read after done
}

// Start prepares a cluster with Crossplane. root is the repository; dir is for
// its packages and for what pods leave; s must be reachable until Stop.
// Koldun's packages can be had by their usual names, but are not installed:
// see [Platform.Install].
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
		Env: []string{names.EnvHFEndpoint + "=" + s.Hub}, // as a mirror within a company would be named
	})
	if err != nil {
		return nil, err
	}
	p := &Platform{Cluster: c, Node: n, root: root, provider: provider, done: make(chan struct{})}
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(p.done)
		p.err = p.attend(ctx, s)
	}()
	return p, nil
}

// Stop stops the node and its pods, and leaves the cluster running.
func (p *Platform) Stop() {
	p.cancel()
	<-p.done
	p.Node.Stop()
}

// Install applies package/install.yaml, as the README asks for, and waits until
// claims can be made.
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

// Manifest is the path of package/install.yaml.
func (p *Platform) Manifest() string {
	return filepath.Join(p.root, "package", "install.yaml")
}

// Ready waits until Koldun's packages are healthy, however they are installed.
func (p *Platform) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, installed)
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
	return p.Controllers().Restart() // its garbage collector knows the new kinds then
}

// holds waits until an object without namespace has a condition.
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
		return fmt.Errorf("it says %v", conditions)
	})
}

// until calls look until it returns no error. If ctx ends before, the error has the
// last one of look.
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
