// Package connpool resolves how managed resources reach NATS, object stores and
// hubs, and keeps the connections: one for all resources that name the same
// endpoint and credentials, closed when the last of them is gone or uses another.
package connpool

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/artifact/hub"
	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/external/nodes"
	"github.com/gorizond/koldun/internal/external/workloadstatus"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/provider/requeue"
)

const (
	// The reconciler tries again by itself: two attempts reveal an outage soon.
	hubAttempts = 2
	hubMaxWait  = 10 * time.Second
)

// A Pool keeps the connections of all managed resources. It is safe for
// concurrent use.
type Pool struct {
	program   Program
	configs   Reader
	secrets   SecretReader
	tracker   *requeue.Tracker
	cluster   Cluster
	verifier  *modelartifact.Verifier
	lines     *shared[bus.Config, *Line]
	tenancies *shared[operatorAccess, *tenancy]
	stores    *shared[s3store.Config, *store]
	hubs      *shared[hubAccess, *library]
}

// A Reader reads a ProviderConfig or ClusterProviderConfig. Errors: those of an API
// server, such as NotFound.
type Reader interface {
	Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error
}

// A SecretReader reads Secrets. Errors: NotFound, Transient.
type SecretReader interface {
	Get(ctx context.Context, key types.NamespacedName) (external.Secret, error)
	// Labelled reads those of a namespace with the label of API tokens, whatever its
	// value.
	Labelled(ctx context.Context, namespace string) ([]external.Secret, error)
}

// A Cluster holds the clients of the cluster that the provider runs in.
type Cluster struct {
	Nodes     *nodes.Client
	Workloads *workloadstatus.Client
	// Namespaces is not asked if the ClusterProviderConfigs allow namespaces by name.
	Namespaces Namespaces
}

// A Program is what opens the connections.
type Program struct {
	Name string       // of its connections in NATS
	Log  *slog.Logger // of retries of hubs; nil: none
}

// NewPool returns a Pool that reads ProviderConfigs from configs. Close has to be
// called once.
func NewPool(program Program, configs Reader, secrets SecretReader, tracker *requeue.Tracker, of Cluster) *Pool {
	p := &Pool{program: program, configs: configs, secrets: secrets, tracker: tracker, cluster: of, verifier: modelartifact.NewVerifier()}
	p.lines = newShared(func(c bus.Config) *Line {
		return newLine(c, func() { tracker.Enqueue(p.lines.owners(c)...) })
	}, (*Line).close)
	p.tenancies = newShared(func(a operatorAccess) *tenancy {
		return newTenancy(a, func() { tracker.Enqueue(p.tenancies.owners(a)...) })
	}, (*tenancy).close)
	p.stores = newShared(openStore, func(*store) {})
	p.hubs = newShared(p.openLibrary, func(*library) {})
	return p
}

// Close ends the verifications, and closes all connections.
func (p *Pool) Close() {
	p.verifier.Close()
	p.lines.releaseAll()
	p.tenancies.releaseAll()
	p.stores.releaseAll()
	p.hubs.releaseAll()
}

// Release releases the connections of a managed resource.
func (p *Pool) Release(owner requeue.Key) {
	p.tracker.Forget(owner)
	p.lines.release(owner)
	p.tenancies.release(owner)
	p.stores.release(owner)
	p.hubs.release(owner)
}

// Open counts the connections to NATS, object stores and hubs.
func (p *Pool) Open() (nats, s3, hubs int) { return p.lines.len(), p.stores.len(), p.hubs.len() }

// For returns the Set of a managed resource with a reference to a ProviderConfig.
func (p *Pool) For(owner requeue.Key, ref *xpv2.ProviderConfigReference) *Set {
	return &Set{pool: p, owner: owner, resolver: resolver{
		configs: p.configs, secrets: p.secrets, namespaces: p.cluster.Namespaces, namespace: owner.Namespace, config: KeyOf(owner.Namespace, ref),
		read: func(object requeue.Key) { p.tracker.Read(owner, object) },
	}}
}

// A store is an S3 client, or the error of opening it.
type store struct {
	client *s3.Client
	err    error
}

func openStore(cfg s3store.Config) *store {
	client, err := s3store.NewClient(context.Background(), cfg)
	return &store{client, err}
}

// A library is a hub's client, or the error of opening it.
type library struct {
	client *hub.Client
	err    error
}

func (p *Pool) openLibrary(a hubAccess) *library {
	reach := hub.Reach{PublicOnly: !a.private}
	if a.trusted != "" {
		reach.Trusted = []string{a.trusted}
	}
	client, err := hub.New(hub.Config{Endpoint: a.endpoint, Token: a.token, Reach: reach, Attempts: hubAttempts, MaxWait: hubMaxWait, Log: p.program.Log})
	return &library{client, err}
}
