package node_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/node/kubernetes"
)

// Variables that make e2e sets.
const (
	enableEnv   = "KOLDUN_E2E"
	clusterEnv  = "CLUSTER"  // "current" for that of the kubeconfig
	registryEnv = "REGISTRY" // from which a current cluster pulls images
	flavourEnv  = "FLAVOUR"  // "claims" for claims
	installEnv  = "INSTALL"  // "manifests" for those of a release in place of its chart
	holdEnv     = "HOLD"     // keeps the cluster after the tests until Ctrl-C
)

// repository is the root of the repository.
const repository = "../.."

// TestMain starts the cluster, which all tests share.
func TestMain(m *testing.M) {
	if os.Getenv(enableEnv) == "" {
		fmt.Println("SKIP: these tests need a cluster of their own; run: make e2e")
		return
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

// shared is the environment of all tests of this package.
var shared *environment //nolint:gochecknoglobals // set once by TestMain

func run(m *testing.M) (int, error) {
	ctx := context.Background()
	tell("Starting a cluster ...")
	var err error
	if os.Getenv(clusterEnv) == "current" {
		shared, err = currentCluster(ctx)
	} else {
		shared, err = newCluster(ctx)
	}
	if err != nil {
		return 1, err
	}
	defer shared.close()
	code := m.Run()
	if os.Getenv(holdEnv) != "" {
		tell("In another terminal, as root: nsenter --target %d --net --mount kubectl --kubeconfig %s get pods --all-namespaces", os.Getpid(), shared.Kubeconfig())
		ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer stop()
		<-ctx.Done()
	}
	return code, nil
}

// newCluster starts a cluster of one node.
func newCluster(ctx context.Context) (*environment, error) {
	n, err := kubernetes.Start(ctx)
	if err != nil {
		return nil, err
	}
	tell("A node is ready")
	return newEnvironment(&target{Cluster: n.Cluster, node: n, close: n.Close, registry: kubernetes.Registry}), nil
}

// currentCluster uses the cluster of the current kubeconfig.
func currentCluster(ctx context.Context) (*environment, error) {
	registry := os.Getenv(registryEnv)
	if registry == "" {
		return nil, fmt.Errorf("cannot use the current cluster: name a registry that it can pull from, such as %s=registry.example.org/koldun-e2e", registryEnv)
	}
	c, err := cluster.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return newEnvironment(&target{Cluster: c, close: c.Close, registry: registry}), nil
}
