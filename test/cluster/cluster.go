package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/waittest"
)

// requireEnv makes tests fail instead of skip.
const requireEnv = "KOLDUN_REQUIRE_CLUSTER"

// startWithin is the time limit for starting a cluster, which takes some seconds on
// an idle machine.
const startWithin = 3 * time.Minute

// Options configures a cluster.
type Options struct {
	// Manifests are YAML documents to apply before Crossplane starts, such as CRDs
	// of providers and the ClusterRoles that packages contain for Crossplane.
	Manifests []string

	// ControlPlaneOnly leaves Crossplane out.
	ControlPlaneOnly bool

	// CrossplaneArgs are added to those of Crossplane's core.
	CrossplaneArgs []string

	// Autoscaler enables the controller of HorizontalPodAutoscalers.
	Autoscaler bool

	// NodeAddress is the address of this machine for a kubelet and pods, see package
	// kubernetes. With it, the API server listens on all addresses, and all controllers
	// run. Loopback is not possible.
	NodeAddress string
}

// A Cluster is a running control plane. It is safe for concurrent use.
type Cluster struct {
	*connection
	*objects
	*programs
	*certificates
	*revisions
	*logFolder

	controlPlane *controlPlane
	crossplane   *crossplaneRelease

	functions map[string]*grpc.Server
	closers   []func()
}

// Start starts a cluster, which stops when the test ends. It skips the test if the
// programs are not built.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c, err := start(t.Context(), o)
	if err != nil {
		refuse(t, err)
	}
	t.Cleanup(c.Close)
	c.watch(t)
	return c
}

// New starts a cluster outside of tests. The caller must close it.
func New(ctx context.Context, o Options) (*Cluster, error) { return start(ctx, o) }

// Close stops all programs and removes their data.
func (c *Cluster) Close() {
	c.Stop()
	c.dir.remove()
}

// refuse skips or fails a test whose cluster cannot start.
func refuse(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errMissing) && os.Getenv(requireEnv) != "1" {
		t.Skip(err)
	}
	t.Fatal(err)
}

// Missing ends a test that needs a program that is not built: it skips the test, or
// fails it if clusters are required.
func Missing(t testing.TB, program, command string) {
	t.Helper()
	if os.Getenv(requireEnv) != "1" {
		t.Skipf("%s is not built; run: %s", program, command)
	}
	t.Fatalf("%s is not built; run: %s", program, command)
}

// start returns a running cluster. If it fails, it stops all programs, and the error
// contains the end of their logs.
func start(ctx context.Context, o Options) (*Cluster, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := newFolder()
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir.in("logs"), 0o700); err != nil {
		return nil, err
	}
	c := newCluster(&connection{bin: bin, dir: dir})
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(startWithin))
	defer cancel()
	if err := c.up(ctx, o); err != nil {
		c.Stop()
		err = fmt.Errorf("%w\n%s", err, c.logs(nil))
		dir.remove()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) up(ctx context.Context, o Options) error {
	if err := c.controlPlane.start(ctx, o); err != nil {
		return err
	}
	var err error
	if c.client, err = client.NewWithWatch(c.config, client.Options{}); err != nil {
		return fmt.Errorf("cannot make client of the control plane: %w", err)
	}
	if err := c.Apply(ctx, o.Manifests...); err != nil {
		return err
	}
	if err := c.awaitServed(ctx, o.Manifests...); err != nil {
		return err
	}
	if o.ControlPlaneOnly {
		return nil
	}
	return c.crossplane.start(ctx, o.CrossplaneArgs)
}

// Stop stops all programs in reverse order, and returns when they have ended.
func (c *Cluster) Stop() {
	c.mu.Lock()
	closers := c.closers
	c.closers = nil
	c.mu.Unlock()
	for _, f := range slices.Backward(closers) {
		f()
	}
	for _, p := range slices.Backward(c.list()) {
		// Their data is not needed any more.
		p.Kill()
	}
}

// Dir returns the folder of the cluster's data. Close removes it.
func (c *connection) Dir() string { return c.dir.path }

// Config returns the configuration of the cluster's administrator.
func (c *connection) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Client returns a client of the cluster's administrator. It reads from the API
// server, not from a cache.
func (c *connection) Client() client.WithWatch { return c.client }

// Kubeconfig returns the path of the administrator's kubeconfig.
func (c *connection) Kubeconfig() string { return c.dir.in("admin.kubeconfig") }

// Controllers returns the process of kube-controller-manager. Its garbage collector
// discovers new CRDs within half a minute or when it restarts; until then it does
// not delete the dependents of objects of those kinds.
func (c *Cluster) Controllers() *Process { return c.controlPlane.controllers }

// Crossplane returns the process of Crossplane's core, or nil without Crossplane.
func (c *Cluster) Crossplane() *Process { return c.crossplane.core }

// RBACManager returns the process of Crossplane's RBAC manager, or nil without
// Crossplane.
func (c *Cluster) RBACManager() *Process { return c.crossplane.rbac }
