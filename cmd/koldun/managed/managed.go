// Package managed reconciles the managed resources of koldun up, by the clients of
// the catalog, on the servers that claims name and on the embedded ones.
package managed

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/requeue"
)

// A Config says which servers are embedded, and what is known of objects. Fields
// without a default are required.
type Config struct {
	// The embedded servers. They are used where the claims name no others.
	NATS bus.Config
	S3   s3store.Config
	Hub  string // endpoint; default: huggingface.co
	// EmbeddedOnly uses the embedded NATS and S3 also where the claims name others.
	EmbeddedOnly bool
	// Log is the log of retries of hubs. Default: none.
	Log *slog.Logger
	// Using is called once with each server that is used. Default: nothing.
	Using func(Use)

	// Configs returns a ProviderConfig, or a ClusterProviderConfig, which has no
	// namespace.
	Configs func(kind, namespace, name string) (local.Object, bool)
	// Secrets returns all Secrets of a namespace.
	Secrets func(namespace string) []local.Secret
	// Composites returns all composites of a kind in a namespace.
	Composites func(kind, namespace string) []local.Composite
	// Default sets the defaults of an object.
	Default func(obj map[string]any)
}

// A Client reconciles managed resources of all kinds.
type Client struct {
	cfg     Config
	configs *configs
	pool    *connpool.Pool
	uses    *uses
	watches *watches
	entries map[string]catalog.Entry
	run     string // identifies the resources of this run
}

var (
	_ local.Managed = (*Client)(nil)
	_ local.Watcher = (*Client)(nil)
)

// New returns a Client. Close has to be called once, before the embedded servers
// stop.
func New(cfg Config) *Client {
	tracker := requeue.NewTracker()
	known := newConfigs(cfg, tracker)
	c := &Client{
		cfg: cfg, configs: known, uses: newUses(cfg.Using),
		pool:    connpool.NewPool(connpool.Program{Name: "koldun up", Log: cfg.Log}, known, credentials{known}, tracker, connpool.Cluster{}),
		watches: newWatches(), entries: map[string]catalog.Entry{}, run: rand.Text(),
	}
	for _, e := range catalog.Entries() {
		c.entries[e.Kind] = e
	}
	return c
}

// Close closes all connections.
func (c *Client) Close() { c.pool.Close() }

// A call is one call of the client of an object.
type call struct {
	client catalog.Client
	r      catalog.Resource // the object as the client needs it
	*connections
}

// open opens the client of an object.
func (c *Client) open(ctx context.Context, obj local.Object) (call, error) {
	key := obj.Key()
	e, ok := c.entries[key.Kind]
	if !ok {
		return call{}, fault.Errorf(fault.Unsupported, "cannot manage %s: koldun up does not know its kind", key)
	}
	var spec struct {
		Via    *xpv2.ProviderConfigReference `json:"providerConfigRef"`
		Secret struct {
			Name string `json:"name"`
		} `json:"writeConnectionSecretToRef"`
		ForProvider map[string]any `json:"forProvider"`
	}
	r := catalog.Resource{Owner: key.String(), ID: c.run + " " + key.String(), Namespace: key.Namespace}
	if err := errors.Join(obj.Decode(&spec, "spec"), obj.Decode(&r.Status, "status", "atProvider")); err != nil {
		return call{}, err
	}
	out := call{connections: &connections{Set: c.pool.For(owner(key), spec.Via), client: c}}
	var err error
	if out.client, err = e.Open(ctx, out.connections); err != nil {
		c.watches.on(key, out.line())
		return call{}, fmt.Errorf("cannot manage %s: %w", key, out.advise(err))
	}
	if r.Spec = spec.ForProvider; r.Spec == nil {
		r.Spec = map[string]any{}
	}
	r.Secrets = secrets{all: c.cfg.Secrets, namespace: key.Namespace, connection: spec.Secret.Name}
	r.Existing, err = c.existing(e, obj, spec.ForProvider)
	out.r = r
	return out, err
}

func owner(k local.Key) requeue.Key {
	return requeue.Key{Kind: k.Kind, NamespacedName: types.NamespacedName{Namespace: k.Namespace, Name: k.Name}}
}

// Observe observes the external resource of an object.
func (c *Client) Observe(ctx context.Context, obj local.Object) (local.Observation, error) {
	of, err := c.open(ctx, obj)
	if err != nil {
		return local.Observation{}, err
	}
	o, err := of.client.Observe(ctx, of.r)
	c.watches.on(obj.Key(), of.line())
	if err != nil {
		return local.Observation{}, of.advise(err)
	}
	out := local.Observation{Exists: o.Exists, UpToDate: o.UpToDate, Ready: o.Ready, Message: o.Message, Connection: o.Connection}
	if out.Objects, err = Objects(o.Dependents, of.r.Namespace, c.cfg.Default); err != nil {
		return local.Observation{}, err
	}
	if err := json.Unmarshal(o.Status, &out.Status); err != nil {
		return local.Observation{}, fmt.Errorf("cannot decode the status of %s: %w", obj.Key(), err)
	}
	return out, nil
}

// Create creates the external resource of an object.
func (c *Client) Create(ctx context.Context, obj local.Object) error {
	of, err := c.open(ctx, obj)
	if err != nil {
		return err
	}
	return of.advise(of.client.Create(ctx, of.r))
}

// Update updates the external resource of an object.
func (c *Client) Update(ctx context.Context, obj local.Object) error {
	of, err := c.open(ctx, obj)
	if err != nil {
		return err
	}
	return of.advise(of.client.Update(ctx, of.r))
}

// Delete deletes the external resource of an object.
func (c *Client) Delete(ctx context.Context, obj local.Object) error {
	of, err := c.open(ctx, obj)
	if err != nil {
		return err
	}
	if err := of.client.Delete(ctx, of.r); err != nil {
		return of.advise(err)
	}
	c.pool.Release(owner(obj.Key()))
	c.configs.prune()
	return nil
}

// Watch watches the external resource of an object, if its client can. Errors:
// Transient if its server cannot be reached, or is another one now.
func (c *Client) Watch(ctx context.Context, obj local.Object, changed func()) error {
	of, err := c.open(ctx, obj)
	if err != nil {
		return fault.As(fault.Transient, err)
	}
	watch, err := of.client.Watch(ctx, of.r)
	if err != nil {
		return fault.As(fault.Transient, err)
	}
	if watch == nil {
		return nil
	}
	return c.watches.run(ctx, obj.Key(), of.line(), func(ctx context.Context) error { return watch(ctx, changed) })
}
