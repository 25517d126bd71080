// Package connection finds out how managed resources reach the outside, and
// keeps the connections: one for all resources that name the same endpoint and
// credentials, closed when the last of them has gone or uses another.
package connection

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/hub"
	"github.com/gorizond/koldun/internal/modelref"
	"github.com/gorizond/koldun/internal/objectstore"
	s3store "github.com/gorizond/koldun/internal/objectstore/s3"
	"github.com/gorizond/koldun/provider/requeue"
)

const (
	// The reconciler tries again by itself: two attempts tell an outage soon.
	hubAttempts = 2
	hubMaxWait  = 10 * time.Second
)

// A Pool keeps the connections of all managed resources. It is safe for
// concurrent use.
type Pool struct {
	configs client.Reader
	secrets *Secrets
	tracker *requeue.Tracker
	lines   *shared[bus.Config, *Line]
	stores  *shared[s3store.Config, *store]
	hubs    *shared[hubAccess, *library]
}

// NewPool is a Pool that reads ProviderConfigs from configs.
func NewPool(configs client.Reader, secrets *Secrets, tracker *requeue.Tracker) *Pool {
	p := &Pool{configs: configs, secrets: secrets, tracker: tracker}
	p.lines = newShared(func(c bus.Config) *Line {
		return newLine(c, func() { tracker.Enqueue(p.lines.owners(c)...) })
	}, (*Line).close)
	p.stores = newShared(openStore, func(*store) {})
	p.hubs = newShared(openLibrary, func(*library) {})
	return p
}

// Close all connections.
func (p *Pool) Close() {
	p.lines.releaseAll()
	p.stores.releaseAll()
	p.hubs.releaseAll()
}

// Release what a managed resource uses.
func (p *Pool) Release(owner requeue.Key) {
	p.tracker.Forget(owner)
	p.lines.release(owner)
	p.stores.release(owner)
	p.hubs.release(owner)
}

// Open counts the connections to NATS, object stores and hubs.
func (p *Pool) Open() (nats, s3, hubs int) { return p.lines.len(), p.stores.len(), p.hubs.len() }

// A store is an S3 client, or why there is none.
type store struct {
	client *s3.Client
	err    error
}

func openStore(cfg s3store.Config) *store {
	client, err := s3store.NewClient(context.Background(), cfg)
	return &store{client, err}
}

// A library is a hub's client, or why there is none.
type library struct {
	client *hub.Client
	err    error
}

// hubAccess is what tells clients of hubs apart.
type hubAccess struct{ endpoint, token string }

func openLibrary(a hubAccess) *library {
	client, err := hub.New(hub.Config{Endpoint: a.endpoint, Token: a.token, Attempts: hubAttempts, MaxWait: hubMaxWait})
	return &library{client, err}
}

// A Set is the connections of one managed resource, during one reconcile. Each
// is found out and made when it is asked for.
type Set struct {
	pool     *Pool
	owner    requeue.Key
	resolver resolver
	used     *Line
	via      Config // says how NATS is reached, once that is known
}

// For is the Set of a managed resource with a reference to a ProviderConfig.
func (p *Pool) For(owner requeue.Key, ref *xpv2.ProviderConfigReference) *Set {
	return &Set{pool: p, owner: owner, resolver: resolver{
		configs: p.configs, secrets: p.secrets, config: KeyOf(owner.Namespace, ref),
		read: func(object requeue.Key) { p.tracker.Read(owner, object) },
	}}
}

// NATS is the connection to NATS, and the same as environment variables, for
// workloads. It blocks for some seconds at most. Errors: all kinds.
func (s *Set) NATS(ctx context.Context) (*bus.Bus, map[string][]byte, error) {
	l, err := s.Line(ctx)
	if err != nil {
		return nil, nil, err
	}
	b, err := l.Connected(ctx)
	return b, l.cfg.Env(), s.advise(err)
}

// advise adds to a refusal where the credentials come from.
func (s *Set) advise(err error) error {
	if !fault.Is(err, fault.Denied) {
		return err
	}
	if ref := s.via.natsRef(); ref != nil {
		return fmt.Errorf("%w; the credentials are in Secret %q, which %s names", err, ref.Name, s.via)
	}
	return fmt.Errorf("%w; %s names no Secret with credentials", err, s.via)
}

// Line is the connection to NATS, made or not.
func (s *Set) Line(ctx context.Context) (*Line, error) {
	cfg, via, err := s.resolver.nats(ctx)
	if err != nil {
		return nil, err
	}
	s.via = via
	cfg.Name = "koldun provider"
	s.used = s.pool.lines.bind(s.owner, cfg)
	return s.used, nil
}

// Shared is what all managed resources on the same connection to NATS share,
// by its name: open is called for the first of them.
func Shared[T any](ctx context.Context, s *Set, name string, open func(*bus.Bus) T) (T, error) {
	var none T
	l, err := s.Line(ctx)
	if err != nil {
		return none, err
	}
	b, err := l.Connected(ctx)
	if err != nil {
		return none, s.advise(err)
	}
	part, ok := l.part(name, func() any { return open(b) }).(T)
	if !ok {
		return none, fault.Errorf(fault.Internal, "part %q of a connection has two types", name)
	}
	return part, nil
}

// S3 is the client of the object store, and its configuration. It asks no
// server. Errors: all kinds but those of a server.
func (s *Set) S3(ctx context.Context) (*s3.Client, s3store.Config, error) {
	cfg, err := s.resolver.s3(ctx)
	if err != nil {
		return nil, cfg, err
	}
	store := s.pool.stores.bind(s.owner, cfg)
	return store.client, cfg, store.err
}

// Store is the store at s3://BUCKET/PREFIX.
func (s *Set) Store(ctx context.Context, url string) (objectstore.Store, error) {
	ref, err := modelref.Parse(url)
	if err != nil || ref.Scheme != modelref.S3 {
		return nil, fault.Errorf(fault.Invalid, "cannot open store %q: write s3://BUCKET/PREFIX", url)
	}
	client, _, err := s.S3(ctx)
	if err != nil {
		return nil, err
	}
	return s3store.New(client, ref.Bucket, ref.Path)
}

// Hub is the client of a hub; an empty endpoint is that of the ProviderConfig.
// So is an empty token, but for its own endpoint only.
func (s *Set) Hub(ctx context.Context, endpoint, token string) (*hub.Client, error) {
	own, ownToken, err := s.resolver.hub(ctx)
	if err != nil {
		return nil, err
	}
	if endpoint == "" {
		endpoint = own
	}
	if token == "" && endpoint == own {
		token = ownToken
	}
	l := s.pool.hubs.bind(s.owner, hubAccess{endpoint, token})
	return l.client, l.err
}

// Identity tells the connection to NATS that the Set has used from others; nil
// if it has used none.
func (s *Set) Identity() any { return s.used }

// Secret reads a Secret of the managed resource's namespace. Errors: NotFound,
// Transient.
func (s *Set) Secret(ctx context.Context, name string) (Secret, error) {
	key := types.NamespacedName{Namespace: s.owner.Namespace, Name: name}
	s.pool.tracker.Read(s.owner, requeue.Key{Kind: KindSecret, NamespacedName: key})
	secret, err := s.pool.secrets.Get(ctx, key)
	if err != nil {
		return Secret{}, fmt.Errorf("cannot read credentials: %w", err)
	}
	return secret, nil
}

// Labelled reads the Secrets of the managed resource's namespace that have the
// label of API tokens. Errors: Transient.
func (s *Set) Labelled(ctx context.Context) ([]Secret, error) {
	s.pool.tracker.Read(s.owner, LabelledKey(s.owner.Namespace))
	return s.pool.secrets.Labelled(ctx, s.owner.Namespace)
}
