package connpool

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/external/hubrevision"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/external/nodes"
	"github.com/gorizond/koldun/internal/external/workloadstatus"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/provider/requeue"
)

// A Set holds the connections of one managed resource during one reconcile. Each
// is resolved and opened when it is first needed. A watch, which outlives the
// reconcile, keeps what it needs of a Set, never the Set: its methods are not
// safe for concurrent use.
type Set struct {
	pool     *Pool
	owner    requeue.Key
	resolver resolver
	used     *Line
	via      Config   // describes the connection to NATS, once it is resolved
	tenancy  *tenancy // of servers in operator mode
}

var _ catalog.Connections = (*Set)(nil)

// Permit checks that the namespace of the managed resource may use its Config.
// Errors: Denied (IsNotAllowed), NotFound, Invalid, Transient.
func (s *Set) Permit(ctx context.Context) error {
	_, err := s.resolver.own(ctx)
	return err
}

// NATS returns the connection to NATS, and its settings as the environment
// variables of a workload. It blocks for some seconds at most. Errors: all kinds.
func (s *Set) NATS(ctx context.Context) (*bus.Bus, map[string][]byte, error) {
	l, err := s.line(ctx)
	if err != nil {
		return nil, nil, err
	}
	b, err := l.Connected(ctx)
	if s.tenancy != nil {
		// The login is the provider's: workloads have those of NATSUsers.
		return b, address(l.cfg), s.advise(err)
	}
	return b, l.cfg.Env(), s.advise(err)
}

// address returns the environment variables of a workload that say where NATS is.
func address(c bus.Config) map[string][]byte {
	return bus.Config{URL: c.URL, CA: c.CA, Cert: c.Cert, Key: c.Key}.Env()
}

// Operator returns the accounts of servers in operator mode, nil for others. Errors: all
// kinds.
func (s *Set) Operator(ctx context.Context) (*catalog.Operator, error) {
	cfg, err := s.servers(ctx)
	if err != nil || s.tenancy == nil {
		return nil, err
	}
	accounts, err := s.tenancy.open(ctx)
	if err != nil {
		return nil, s.advise(err)
	}
	if s.used == nil {
		s.used = s.tenancy.line
	}
	out := &catalog.Operator{Accounts: accounts, Address: address(cfg)}
	if s.owner.Namespace == "" {
		return out, nil
	}
	m, err := s.tenancy.join(ctx, s.owner.Namespace)
	out.Account = m.account
	return out, err
}

// Common reports whether the credentials of a system are those of a ClusterProviderConfig,
// and all namespaces have the same. Errors: as of NATS and S3.
func (s *Set) Common(ctx context.Context, on catalog.System) (bool, error) {
	var via Config
	var err error
	switch on {
	case catalog.NATS:
		_, err = s.servers(ctx)
		via = s.via
	case catalog.S3:
		via, err = s.resolver.store(ctx)
	case catalog.Hub, catalog.Kubernetes:
	}
	return via.Kind == v1alpha1.KindClusterProviderConfig && (on != catalog.NATS || s.tenancy == nil), err
}

// EgressPorts returns those of the Config of the managed resource, and of the default if that
// describes the system. Errors: as of Permit.
func (s *Set) EgressPorts(ctx context.Context, on catalog.System) ([]int32, error) {
	return s.resolver.egressPorts(ctx, on)
}

// servers returns the settings of the connection to NATS, and sets via and tenancy. They
// hold no login if there is a tenancy.
func (s *Set) servers(ctx context.Context) (bus.Config, error) {
	cfg, via, err := s.resolver.nats(ctx)
	if err != nil {
		return cfg, err
	}
	s.via, cfg.Name, s.tenancy = via, s.pool.program.Name, nil
	access, err := s.resolver.operator(ctx, cfg, via)
	if err == nil && access != nil {
		s.tenancy = s.pool.tenancies.bind(s.owner, *access)
	}
	return cfg, err
}

// Shared returns what all managed resources on the same connection to NATS share.
func (s *Set) Shared(ctx context.Context) (*catalog.Shared, error) {
	l, err := s.line(ctx)
	if err != nil {
		return nil, err
	}
	shared, err := l.Shared(ctx)
	return shared, s.advise(err)
}

// advise adds the source of the credentials to an error of kind Denied.
func (s *Set) advise(err error) error {
	if !fault.Is(err, fault.Denied) {
		return err
	}
	if ref := s.via.operatorRef(); ref != nil {
		s.tenancy.doubt(s.owner.Namespace)
		return fmt.Errorf("%w; the keys of accounts are in Secret %q, which spec.nats.operator of %s names", err, ref.Name, s.via)
	}
	if ref := s.via.natsRef(); ref != nil {
		return fmt.Errorf("%w; the credentials are in Secret %q, which %s names", err, ref.Name, s.via)
	}
	return fmt.Errorf("%w; %s names no Secret with credentials", err, s.via)
}

// line returns the connection to NATS, which may not be open.
func (s *Set) line(ctx context.Context) (*Line, error) {
	cfg, err := s.servers(ctx)
	if err != nil {
		return nil, err
	}
	if s.tenancy != nil {
		if s.owner.Namespace == "" {
			return nil, fault.Errorf(fault.Unsupported, "cannot connect to NATS for %s %q: it has no namespace, and so no account", s.owner.Kind, s.owner.Name)
		}
		m, err := s.tenancy.join(ctx, s.owner.Namespace)
		if err != nil {
			return nil, s.advise(err)
		}
		cfg.Creds, cfg.InboxPrefix = m.user.Credentials, m.user.InboxPrefix
	}
	s.used = s.pool.lines.bind(s.owner, cfg)
	return s.used, nil
}

// S3 returns the client of the object store, and its settings. It contacts no
// server. Errors: all kinds but those of a server.
func (s *Set) S3(ctx context.Context) (*s3.Client, s3store.Config, error) {
	cfg, err := s.resolver.s3(ctx)
	if err != nil {
		return nil, cfg, err
	}
	via, err := s.resolver.store(ctx)
	if err != nil {
		return nil, cfg, err
	}
	store := s.pool.stores.bind(s.owner, cfg)
	cfg.Bound = via.bound(s.owner.Namespace)
	return store.client, cfg, store.err
}

// Hub returns the client of the hub of a repository. An empty endpoint is that of the
// ProviderConfig, whose token it uses in place of an empty one.
func (s *Set) Hub(ctx context.Context, repo modelref.Ref, token string) (hubrevision.Hub, error) {
	access, err := s.resolver.hub(ctx, repo, token)
	if err != nil {
		return nil, err
	}
	h := s.pool.hubs.bind(s.owner, access)
	if h.err != nil {
		return nil, h.err
	}
	return h.client, nil
}

// Nodes returns the client of the cluster's nodes.
func (s *Set) Nodes(context.Context) (*nodes.Client, error) { return s.pool.cluster.Nodes, nil }

// Workloads returns the client of the cluster's pods.
func (s *Set) Workloads(context.Context) (*workloadstatus.Client, error) {
	return s.pool.cluster.Workloads, nil
}

// Verifier returns the one of the provider.
func (s *Set) Verifier() *modelartifact.Verifier { return s.pool.verifier }

// Identity identifies the connection to NATS that the Set has used; nil if it has
// used none.
func (s *Set) Identity() any { return s.used }

// Secret reads a Secret of the managed resource's namespace. Errors: NotFound,
// Transient.
func (s *Set) Secret(ctx context.Context, name string) (external.Secret, error) {
	key := types.NamespacedName{Namespace: s.owner.Namespace, Name: name}
	s.pool.tracker.Read(s.owner, requeue.Key{Kind: KindSecret, NamespacedName: key})
	secret, err := s.pool.secrets.Get(ctx, key)
	if err != nil {
		return external.Secret{}, fmt.Errorf("cannot read credentials: %w", err)
	}
	return secret, nil
}

// Labelled reads the Secrets of the managed resource's namespace that have the
// label of API tokens. Errors: Transient.
func (s *Set) Labelled(ctx context.Context) ([]external.Secret, error) {
	s.pool.tracker.Read(s.owner, LabelledKey(s.owner.Namespace))
	return s.pool.secrets.Labelled(ctx, s.owner.Namespace)
}
