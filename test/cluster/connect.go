package cluster

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Connect returns the cluster of the current kubeconfig, of which it runs nothing. Close
// removes what it has written.
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
	c := &Cluster{bin: bin, dir: dir, config: config}
	if err := clientcmd.WriteToFile(raw, c.Kubeconfig()); err != nil {
		return nil, err
	}
	if c.client, err = client.NewWithWatch(config, client.Options{}); err != nil {
		return nil, fmt.Errorf("cannot make client of the current cluster: %w", err)
	}
	return c, c.awaitHTTP(ctx, "the current cluster", config.Host+"/readyz")
}
