// Package managed reconciles the managed resources of koldun up, by the clients of
// the catalog, on one set of connections.
package managed

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/external/hubrevision"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
	s3store "github.com/gorizond/koldun/internal/objectstore/s3"
)

// A Config says how external resources are reached, and what else is known of
// objects. All fields are required.
type Config struct {
	Bus  *bus.Bus
	NATS map[string][]byte // connection as the environment variables of a workload
	S3   s3store.Config
	Hubs hubrevision.Hubs
	// Secrets returns all Secrets of a namespace.
	Secrets func(namespace string) []local.Secret
	// Composites returns all composites of a kind in a namespace.
	Composites func(kind, namespace string) []local.Composite
	// Default sets the defaults of an object.
	Default func(obj map[string]any)
}

// A Client reconciles managed resources of all kinds.
type Client struct {
	cfg         Config
	connections *connections
	entries     map[string]catalog.Entry
	run         string // identifies the resources of this run
}

var (
	_ local.Managed = (*Client)(nil)
	_ local.Watcher = (*Client)(nil)
)

// New returns a Client. Close has to be called once, before the connection to NATS
// is closed.
func New(ctx context.Context, cfg Config) (*Client, error) {
	client, err := s3store.NewClient(ctx, cfg.S3)
	if err != nil {
		return nil, err
	}
	c := &Client{
		cfg: cfg, connections: &connections{cfg: cfg, s3: client, shared: catalog.NewShared(cfg.Bus)},
		entries: map[string]catalog.Entry{}, run: rand.Text(),
	}
	for _, e := range catalog.Entries() {
		c.entries[e.Kind] = e
	}
	return c, nil
}

// Close ends what the connections share.
func (c *Client) Close() { c.connections.shared.Close() }

// open opens the client of an object, which is returned as that client needs it.
func (c *Client) open(ctx context.Context, obj local.Object) (catalog.Client, catalog.Resource, error) {
	key := obj.Key()
	e, ok := c.entries[key.Kind]
	if !ok {
		return nil, catalog.Resource{}, fault.Errorf(fault.Unsupported, "cannot manage %s: koldun up does not know its kind", key)
	}
	client, err := e.Open(ctx, c.connections)
	if err != nil {
		return nil, catalog.Resource{}, fmt.Errorf("cannot manage %s: %w", key, err)
	}
	r := catalog.Resource{Owner: key.String(), ID: c.run + " " + key.String(), Namespace: key.Namespace}
	s := secrets{all: c.cfg.Secrets, namespace: key.Namespace}
	var keeps struct {
		Name string `json:"name"`
	}
	if err := obj.Decode(&keeps, "spec", "writeConnectionSecretToRef"); err != nil {
		return nil, r, err
	}
	s.connection = keeps.Name
	spec := map[string]any{}
	if err := obj.Decode(&spec, "spec", "forProvider"); err != nil {
		return nil, r, err
	}
	if err := obj.Decode(&r.Status, "status", "atProvider"); err != nil {
		return nil, r, err
	}
	r.Spec, r.Secrets = spec, s
	r.Existing = c.existing(e, obj)
	return client, r, nil
}

// Observe observes the external resource of an object.
func (c *Client) Observe(ctx context.Context, obj local.Object) (local.Observation, error) {
	client, r, err := c.open(ctx, obj)
	if err != nil {
		return local.Observation{}, err
	}
	o, err := client.Observe(ctx, r)
	if err != nil {
		return local.Observation{}, err
	}
	out := local.Observation{Exists: o.Exists, UpToDate: o.UpToDate, Ready: o.Ready, Message: o.Message, Connection: o.Connection}
	if out.Objects, err = Objects(o.Dependents, r.Namespace, c.cfg.Default); err != nil {
		return local.Observation{}, err
	}
	if err := json.Unmarshal(o.Status, &out.Status); err != nil {
		return local.Observation{}, fmt.Errorf("cannot decode the status of %s: %w", obj.Key(), err)
	}
	return out, nil
}

// Create creates the external resource of an object.
func (c *Client) Create(ctx context.Context, obj local.Object) error {
	client, r, err := c.open(ctx, obj)
	if err != nil {
		return err
	}
	return client.Create(ctx, r)
}

// Update updates the external resource of an object.
func (c *Client) Update(ctx context.Context, obj local.Object) error {
	client, r, err := c.open(ctx, obj)
	if err != nil {
		return err
	}
	return client.Update(ctx, r)
}

// Delete deletes the external resource of an object.
func (c *Client) Delete(ctx context.Context, obj local.Object) error {
	client, r, err := c.open(ctx, obj)
	if err != nil {
		return err
	}
	return client.Delete(ctx, r)
}

// Watch watches the external resource of an object, if its client can.
func (c *Client) Watch(ctx context.Context, obj local.Object, changed func()) error {
	client, r, err := c.open(ctx, obj)
	if err != nil {
		return nil //nolint:nilerr // Observe returns the error
	}
	watch, err := client.Watch(ctx, r)
	if err != nil || watch == nil {
		return nil //nolint:nilerr // Observe returns the error
	}
	return watch(ctx, changed)
}
