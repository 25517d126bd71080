package catalog

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/hubrevision"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/external/nodes"
	"github.com/gorizond/koldun/internal/external/workloadstatus"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/internal/network/egress"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// A System is what the external resources of a kind are on.
type System string

// The systems.
const (
	NATS       System = "nats"
	S3         System = "s3"
	Hub        System = "hub"
	Kubernetes System = "kubernetes"
)

// Connections reach the systems for one managed resource. A connection is opened
// when it is first needed. Methods are safe for concurrent use and return errors
// with a fault kind: NotFound if the system is not configured, Unsupported if the
// program never connects to it.
type Connections interface {
	// NATS returns the connection, and its settings as the environment variables
	// of a workload.
	NATS(ctx context.Context) (*bus.Bus, map[string][]byte, error)
	// Operator returns the accounts of the NATS servers, nil if all namespaces use
	// one account. The account of the resource's namespace exists.
	Operator(ctx context.Context) (*Operator, error)
	// Shared returns what all clients on that connection to NATS share.
	Shared(ctx context.Context) (*Shared, error)
	// S3 returns the client of the object store and its settings.
	S3(ctx context.Context) (*s3.Client, s3store.Config, error)
	// Hub returns the client of the hub of a repository. An empty endpoint is the default
	// hub, an empty token the default token of that hub. Errors: hubrevision.ErrNotAllowed.
	Hub(ctx context.Context, repo modelref.Ref, token string) (hubrevision.Hub, error)
	// Nodes returns the client of the cluster's nodes.
	Nodes(ctx context.Context) (*nodes.Client, error)
	// Workloads returns the client of the cluster's pods.
	Workloads(ctx context.Context) (*workloadstatus.Client, error)
	// Common reports whether namespaces that do not trust each other use the system with
	// the same credentials as the resource.
	Common(ctx context.Context, on System) (bool, error)
	// EgressPorts returns ports that clients of the system connect to beside those of
	// its servers' addresses.
	EgressPorts(ctx context.Context, on System) ([]int32, error)
	// Verifier verifies model artifacts in the background. Nil: Observe verifies
	// them and blocks until it is done.
	Verifier() *modelartifact.Verifier
}

// An Operator makes accounts and users on NATS servers in operator mode.
type Operator struct {
	Accounts *natsauth.Accounts
	// Address holds how to reach the servers, as environment variables of a
	// workload without a login.
	Address map[string][]byte
	// Account is the public key of that of the resource's namespace, "" for a
	// resource without a namespace.
	Account string
}

// natsOf returns the account of the resource's namespace, "" if all namespaces use one, and
// the ports that clients of the servers connect to. env are the settings of the connection.
func natsOf(ctx context.Context, c Connections, env map[string][]byte) (account string, ports []int32, err error) {
	o, err := c.Operator(ctx)
	if err != nil {
		return "", nil, err
	}
	if o != nil {
		account = o.Account
	}
	further, err := c.EgressPorts(ctx, NATS)
	return account, egress.Union(egress.Ports("nats", string(env[names.EnvNATSURL])), further), err
}

// operator returns the accounts of the NATS servers. Errors: Unsupported if all
// namespaces use one.
func operator(ctx context.Context, c Connections) (*Operator, error) {
	o, err := c.Operator(ctx)
	if err == nil && o == nil {
		err = fault.Errorf(fault.Unsupported, "cannot manage NATS accounts and users: the connection to NATS has no operator (nats.operator)")
	}
	return o, err
}

// checkTokens rejects a bucket that the provider's user of the account has no permission to
// write: the server drops such messages without a reply. Errors: Unsupported, and those of
// Connections.Operator.
func checkTokens(ctx context.Context, c Connections, bucket string) error {
	if bucket == "" || bucket == names.TokensBucket {
		return nil
	}
	o, err := c.Operator(ctx)
	if err == nil && o != nil {
		err = fault.Errorf(fault.Unsupported, "cannot write tokens to bucket %q: in the account of a namespace (nats.operator) the provider may write them to bucket %q only. "+
			"Create the resource again without spec.forProvider.bucket", bucket, names.TokensBucket)
	}
	return err
}

// Secrets reads the Secrets that belong to one managed resource.
type Secrets interface {
	// Secret returns a Secret of the resource's namespace. Errors: NotFound.
	Secret(ctx context.Context, name string) (external.Secret, error)
	// Labelled returns the Secrets of the resource's namespace that have the label
	// token.LabelSecret, whatever its value.
	Labelled(ctx context.Context) ([]external.Secret, error)
	// Stored returns the data of the Secret that holds the connection of the
	// resource. It is empty if there is none.
	Stored(ctx context.Context) (map[string][]byte, error)
}

// stores opens stores through the connection to the object store.
func stores(c Connections) modelartifact.Stores {
	return func(ctx context.Context, url string) (objectstore.Store, error) {
		ref, err := modelref.Parse(url)
		if err != nil || ref.Scheme != modelref.S3 {
			return nil, fault.Errorf(fault.Invalid, "cannot open store %q: write s3://BUCKET/PREFIX", url)
		}
		client, cfg, err := c.S3(ctx)
		if err != nil {
			return nil, err
		}
		if err := cfg.Bound.Check(s3store.Access{Bucket: ref.Bucket, Prefix: ref.Path}); err != nil {
			return nil, err
		}
		return s3store.New(client, ref.Bucket, ref.Path)
	}
}

// reports reads the progress of Jobs.
func reports(c Connections) modelartifact.Reports {
	return func(ctx context.Context, key string) (progress.Report, error) {
		b, _, err := c.NATS(ctx)
		if err != nil {
			return progress.Report{}, err
		}
		r, err := registry.Progress(b).Get(ctx, key)
		return r.Value, err
	}
}
