package cluster

import (
	"context"
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Connect returns the cluster of the current kubeconfig. The caller must close it, which
// leaves the cluster as it is.
func Connect(ctx context.Context) (*Cluster, error) {
	loading := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil)
	config, err := loading.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("cannot find the current cluster: %w", err)
	}
	raw, err := loading.RawConfig()
	if err != nil {
		return nil, err
	}
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := newFolder()
	if err != nil {
		return nil, err
	}
	c := newCluster(&connection{bin: bin, dir: dir, config: config})
	if err := c.connect(ctx, raw); err != nil {
		c.Close()
		return nil, fmt.Errorf("cannot connect to the current cluster: %w", err)
	}
	return c, nil
}

// connect writes the kubeconfig for programs, and waits until the API server is ready.
func (c *Cluster) connect(ctx context.Context, kubeconfig api.Config) error {
	err := os.Mkdir(c.dir.in("logs"), 0o700) // of what Run runs
	if err != nil {
		return err
	}
	if err := clientcmd.WriteToFile(kubeconfig, c.Kubeconfig()); err != nil {
		return err
	}
	if c.client, err = client.NewWithWatch(c.config, client.Options{}); err != nil {
		return err
	}
	return c.awaitHTTP(ctx, "the API server", c.config.Host+"/readyz")
}
