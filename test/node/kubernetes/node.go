package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/waittest"
)

const (
	// Name is the name of the node.
	Name = "node"
	// Address is the address of the node, which pods reach.
	Address = "10.99.0.1"
)

// startWithin is the time limit for the start, which takes half a minute on an idle
// machine.
const startWithin = 5 * time.Minute

// A Node is a running cluster of one node. It is safe for concurrent use.
type Node struct {
	*cluster.Cluster
	registry   *registry
	bin        string
	containerd string // address of its socket
}

// Start starts a cluster, and returns when pods have names and addresses. The caller must
// close it.
func Start(ctx context.Context) (*Node, error) {
	if os.Getuid() != 0 {
		return nil, errors.New("cannot run a node: it needs root")
	}
	root, err := cluster.Repository()
	if err != nil {
		return nil, err
	}
	if err := setUpNetwork(ctx); err != nil {
		return nil, err
	}
	c, err := cluster.New(ctx, cluster.Options{ControlPlaneOnly: true, NodeAddress: Address})
	if err != nil {
		return nil, err
	}
	n := &Node{Cluster: c, bin: filepath.Join(root, "bin")}
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(startWithin))
	defer cancel()
	if err := n.start(ctx); err != nil {
		err = fmt.Errorf("%w\n%s", err, c.Logs())
		n.Close()
		return nil, err
	}
	return n, nil
}

func (n *Node) start(ctx context.Context) error {
	var err error
	if n.registry, err = serveRegistry(ctx); err != nil {
		return err
	}
	if err := n.pushOwnImages(ctx); err != nil {
		return err
	}
	if err := n.runContainerd(ctx); err != nil {
		return err
	}
	if err := n.runKubelet(); err != nil {
		return err
	}
	if err := n.runProxies(); err != nil {
		return err
	}
	if err := n.addVolumes(ctx); err != nil {
		return err
	}
	if err := n.ready(ctx); err != nil {
		return err
	}
	return n.addDNS(ctx)
}

// ready waits until the node takes pods.
func (n *Node) ready(ctx context.Context) error {
	return n.Await(ctx, "the node", func(ctx context.Context) error {
		var node corev1.Node
		if err := n.Client().Get(ctx, client.ObjectKey{Name: Name}, &node); err != nil {
			return err
		}
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
				return errors.New(c.Message)
			}
		}
		if len(node.Spec.Taints) > 0 {
			return fmt.Errorf("it has taints: %v", node.Spec.Taints)
		}
		return nil
	})
}

// Close stops all programs and pods, and removes their data.
func (n *Node) Close() {
	n.removePods()
	n.Stop()
	n.registry.close()
	n.unmount()
	removeCgroup(n.cgroup())
	n.Cluster.Close()
}
