// Package clients holds the provider's connections to NATS, S3 and
// Kubernetes. Each is opened on first use.
package clients

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/external/hubrevision"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/external/nodes"
	"github.com/gorizond/koldun/internal/external/workloadstatus"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/terraform-provider/internal/kube"
)

// dialWithin bounds the first connection to NATS, so that an apply fails and does
// not hang.
const dialWithin = 20 * time.Second

// A System is one that the provider connects to.
type System string

// The systems, by the provider's attribute that configures each.
const (
	NATS         System = "nats"
	NATSOperator System = "nats_operator"
	S3           System = "s3"
	Kubernetes   System = "kubernetes"
)

// Settings of a provider.
type Settings struct {
	NATS     bus.Config // URL "" is not configured
	Operator Operator
	S3       s3store.Config
	Kube     kube.Config
	// Unknown are the systems whose settings depend on resources that are not
	// applied yet.
	Unknown map[System]bool
	// Adopt lets resources take over objects that exist.
	Adopt bool
}

var _ catalog.Connections = (*Connections)(nil)

// Connections are the connections of one provider. Each is opened once and stays
// open until Close. They are safe for concurrent use.
type Connections struct {
	Settings Settings

	mu     sync.Mutex
	bus    *bus.Bus
	shared *catalog.Shared // of bus
	// system is the connection of the system account, which operator uses.
	system   *bus.Bus
	operator *catalog.Operator
	client   *s3.Client
	kube     *kube.Client
}

// New returns Connections, none of which is open.
func New(s Settings) *Connections { return &Connections{Settings: s} }

// Missing returns why a system is not configured, and how to mend it; "" if it
// is configured, or if its settings will be known later.
func (c *Connections) Missing(s System) string {
	if c.Settings.Unknown[s] {
		return ""
	}
	switch s {
	case NATS:
		if c.Settings.NATS.URL == "" && !c.own() {
			return "No NATS server is configured. Set nats.url in the provider block, or the environment variable NATS_URL; for servers in operator mode, the block nats_operator."
		}
	case NATSOperator:
		return c.Settings.Operator.missing()
	case S3:
		if c.Settings.S3.AccessKey == "" && c.Settings.S3.Endpoint == "" && c.Settings.S3.Region == "" {
			return "No object store is configured. Set s3.endpoint, s3.access_key and s3.secret_key in the provider block, or the environment variables of the AWS tools."
		}
	case Kubernetes:
		if !c.Settings.Kube.Configured() {
			return "No Kubernetes cluster is configured. Set kubernetes.config_path or kubernetes.host in the provider block, or the environment variable KUBECONFIG. " +
				"Without a cluster, the function provider::koldun::claim writes manifests for GitOps."
		}
	}
	return ""
}

// check returns an error if a connection cannot be opened now.
func (c *Connections) check(s System) error {
	if c.Settings.Unknown[s] {
		return fault.Errorf(fault.Invalid, "cannot connect: the provider's %s settings are not known yet; apply what they depend on first", s)
	}
	if m := c.Missing(s); m != "" {
		return fault.As(fault.Invalid, errors.New(strings.TrimSuffix(m, ".")))
	}
	return nil
}

// Bus returns the connection to NATS. Errors: those of bus.Connect, within 20 s; Denied if
// it is to an account that does not exist.
func (c *Connections) Bus(ctx context.Context) (*bus.Bus, error) {
	if err := c.check(NATS); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	login := c.Settings.NATS
	if c.own() {
		var err error
		if login, err = c.ownLogin(ctx); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bus != nil {
		return c.bus, nil
	}
	b, err := bus.Connect(ctx, login)
	if err != nil {
		return nil, Advise(NATS, err)
	}
	c.bus, c.shared = b, catalog.NewShared(b)
	return b, nil
}

// NATS returns the connection to NATS, and its settings as the environment
// variables of a workload. Errors: those of Bus; NotFound if no server is
// configured.
func (c *Connections) NATS(ctx context.Context) (*bus.Bus, map[string][]byte, error) {
	if m := c.Missing(NATS); m != "" {
		return nil, nil, fault.As(fault.NotFound, errors.New(strings.TrimSuffix(m, ".")))
	}
	b, err := c.Bus(ctx)
	if c.own() {
		return b, c.Settings.Operator.address().Env(), err // no workload gets the provider's login
	}
	return b, c.Settings.NATS.Env(), err
}

// Shared returns what all resources on the connection to NATS share. Errors: as
// of NATS.
func (c *Connections) Shared(ctx context.Context) (*catalog.Shared, error) {
	if _, _, err := c.NATS(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shared, nil
}

// Operator is nil: the login of the block nats is of one account. For resources that make
// accounts, see Of.
func (c *Connections) Operator(context.Context) (*catalog.Operator, error) { return nil, nil }

// Common is false: the login of the provider block is of one owner.
func (c *Connections) Common(context.Context, catalog.System) (bool, error) { return false, nil }

// EgressPorts are none: no ProviderConfig names any.
func (c *Connections) EgressPorts(context.Context, catalog.System) ([]int32, error) { return nil, nil }

// Hub is not supported: no Terraform resource reads a hub.
func (c *Connections) Hub(context.Context, modelref.Ref, string) (hubrevision.Hub, error) {
	return nil, fault.Errorf(fault.Unsupported, "cannot connect to a hub: the Terraform provider has no settings of hubs")
}

// Nodes returns the client of the cluster's nodes.
func (c *Connections) Nodes(context.Context) (*nodes.Client, error) {
	k, err := c.Kube()
	if err != nil {
		return nil, err
	}
	n, err := k.Nodes()
	if err != nil {
		return nil, err
	}
	return nodes.New(n), nil
}

// Workloads is not supported: no Terraform resource watches pods.
func (c *Connections) Workloads(context.Context) (*workloadstatus.Client, error) {
	return nil, fault.Errorf(fault.Unsupported, "cannot watch pods: the Terraform provider has no resource for it")
}

// Verifier is nil: an apply ends when the files are verified.
func (c *Connections) Verifier() *modelartifact.Verifier { return nil }

// S3 returns the client of the object store, and its settings.
func (c *Connections) S3(ctx context.Context) (*s3.Client, s3store.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client != nil {
		return c.client, c.Settings.S3, nil
	}
	if err := c.check(S3); err != nil {
		return nil, c.Settings.S3, err
	}
	client, err := s3store.NewClient(ctx, c.Settings.S3)
	if err != nil {
		return nil, c.Settings.S3, err
	}
	c.client = client
	return client, c.Settings.S3, nil
}

// Kube returns the client of the cluster.
func (c *Connections) Kube() (*kube.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kube != nil {
		return c.kube, nil
	}
	if err := c.check(Kubernetes); err != nil {
		return nil, err
	}
	k, err := kube.New(c.Settings.Kube)
	if err != nil {
		return nil, err
	}
	c.kube = k
	return k, nil
}

// Namespace returns the namespace of objects that name none.
func (c *Connections) Namespace() string {
	return cmp.Or(c.Settings.Kube.Namespace, "default")
}

// Close closes the connections. It may be called more than once.
func (c *Connections) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bus != nil {
		c.shared.Close()
		c.bus.Close()
		c.bus, c.shared = nil, nil
	}
	if c.system != nil {
		c.system.Close()
		c.system, c.operator = nil, nil
	}
}
