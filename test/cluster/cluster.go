package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// requireEnv makes tests fail that would skip.
const requireEnv = "KOLDUN_REQUIRE_CLUSTER"

// startWithin bounds the start of a cluster. It takes some seconds; a machine
// that also compiles needs more.
const startWithin = 3 * time.Minute

// Options of a cluster.
type Options struct {
	// Manifests are YAML documents that are applied before Crossplane starts:
	// CRDs of providers, the ClusterRoles that packages ship for Crossplane.
	Manifests []string

	// ControlPlaneOnly leaves Crossplane out.
	ControlPlaneOnly bool

	// CrossplaneArgs are added to those of Crossplane's core.
	CrossplaneArgs []string
}

// A Cluster is a running control plane. It is safe for concurrent use.
type Cluster struct {
	bin    string
	dir    *folder
	config *rest.Config
	client client.WithWatch

	metrics string // URL of core's metrics
	core    *Process
	rbac    *Process

	controllers *Process

	mu        sync.Mutex
	processes []*Process
	functions map[string]*grpc.Server
	closers   []func()
}

// Start a cluster for one test. It stops when the test ends. The test is
// skipped if the programs are not built.
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

// New starts a cluster for a program that is no test. Close ends it.
func New(ctx context.Context, o Options) (*Cluster, error) { return start(ctx, o) }

// Close stops all programs and removes their data.
func (c *Cluster) Close() {
	c.Stop()
	c.dir.remove()
}

// refuse ends a test that has no cluster.
func refuse(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errMissing) && os.Getenv(requireEnv) != "1" {
		t.Skip(err)
	}
	t.Fatal(err)
}

// Missing ends a test that needs a program that is not built, as one ends that
// has no cluster.
func Missing(t testing.TB, program, command string) {
	t.Helper()
	if os.Getenv(requireEnv) != "1" {
		t.Skipf("%s is not built; run: %s", program, command)
	}
	t.Fatalf("%s is not built; run: %s", program, command)
}

// start returns a running cluster. If it cannot, everything is stopped again,
// and the error holds the end of the logs.
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
	c := &Cluster{bin: bin, dir: dir, functions: map[string]*grpc.Server{}}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
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
	if err := c.startControlPlane(ctx); err != nil {
		return err
	}
	var err error
	if c.client, err = client.NewWithWatch(c.config, client.Options{}); err != nil {
		return fmt.Errorf("cannot make client of the control plane: %w", err)
	}
	if err := c.Apply(ctx, o.Manifests...); err != nil {
		return err
	}
	if o.ControlPlaneOnly {
		return nil
	}
	return c.startCrossplane(ctx, o.CrossplaneArgs)
}

// Stop all programs, those first that need the others. It returns when they
// are gone.
func (c *Cluster) Stop() {
	c.mu.Lock()
	closers := c.closers
	c.closers = nil
	c.mu.Unlock()
	for _, f := range slices.Backward(closers) {
		f()
	}
	for _, p := range slices.Backward(c.programs()) {
		// Nobody needs what they would write in their last moments.
		p.Kill()
	}
}

// Dir is the folder of the cluster's data. It goes with the cluster.
func (c *Cluster) Dir() string { return c.dir.path }

// Config of the cluster's administrator.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Client of the cluster's administrator. It reads from the API server, not
// from a cache.
func (c *Cluster) Client() client.WithWatch { return c.client }

// Kubeconfig is the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.dir.in("admin.kubeconfig") }

// Controllers is the process of kube-controller-manager. Its garbage collector
// learns of new CRDs within half a minute, or when it is restarted; until then
// it keeps what objects of those kinds own.
func (c *Cluster) Controllers() *Process { return c.controllers }

// Crossplane is the process of Crossplane's core, to kill and restart. It is
// nil without Crossplane.
func (c *Cluster) Crossplane() *Process { return c.core }

// RBACManager is the process of Crossplane's RBAC manager. It is nil without
// Crossplane.
func (c *Cluster) RBACManager() *Process { return c.rbac }
