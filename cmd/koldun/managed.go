package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/internal/external/consumer"
	"github.com/gorizond/koldun/internal/external/demand"
	"github.com/gorizond/koldun/internal/external/hubrevision"
	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/external/modelrecord"
	"github.com/gorizond/koldun/internal/external/pool"
	"github.com/gorizond/koldun/internal/external/queue"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/external/tokenset"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/objectstore"
	s3store "github.com/gorizond/koldun/internal/objectstore/s3"
	"github.com/gorizond/koldun/internal/objectstore/storeurl"
	"github.com/gorizond/koldun/internal/progress"
	"github.com/gorizond/koldun/internal/registry"
)

// managed brings about managed resources on the default connections.
type managed struct {
	kinds map[string]local.Managed
}

var (
	_ local.Managed = (*managed)(nil)
	_ local.Watcher = (*managed)(nil)
)

// connections are what managed resources are brought about on.
type connections struct {
	bus    *bus.Bus
	nats   map[string][]byte // as pods are given it
	s3     s3store.Config
	hubs   hubrevision.Hubs
	secret func(namespace, name string) (map[string][]byte, bool)
	// secrets are all of a namespace.
	secrets func(namespace string) []local.Secret
	// composites are all of a kind in a namespace.
	composites func(kind, namespace string) []local.Composite
	// defaults fills in those of an object.
	defaults func(obj map[string]any)
}

func newManaged(ctx context.Context, c connections) (*managed, error) {
	client, err := s3store.NewClient(ctx, c.s3)
	if err != nil {
		return nil, err
	}
	stores := func(ctx context.Context, url string) (objectstore.Store, error) {
		return storeurl.Open(ctx, url, c.s3)
	}
	reports := func(ctx context.Context, key string) (progress.Report, error) {
		r, err := registry.Progress(c.bus).Get(ctx, key)
		return r.Value, err
	}
	s3 := map[string][]byte{
		names.EnvS3Endpoint:  []byte(c.s3.Endpoint),
		names.EnvS3Region:    []byte(c.s3.Region),
		names.EnvS3AccessKey: []byte(c.s3.AccessKey),
		names.EnvS3SecretKey: []byte(c.s3.SecretKey),
	}
	return &managed{kinds: map[string]local.Managed{
		"Bucket":        adapt(bucket.New(client, c.s3.Region, s3)),
		"Stream":        adapt(stream.New(c.bus, c.nats)),
		"KeyValue":      adapt(keyvalue.New(c.bus, c.nats)),
		"Consumer":      adapt(consumer.New(c.bus, c.nats)),
		"Queue":         adapt(queue.New(stream.New(c.bus, c.nats), keyvalue.New(c.bus, c.nats), c.nats)),
		"ModelArtifact": adapt(modelartifact.New(stores, reports)),
		"ModelRecord":   adapt(modelrecord.New(stores, registry.Models(c.bus))),
		"HubRevision":   face[hubrevision.Spec, hubrevision.Status]{client: hubrevision.New(c.hubs), complete: c.revision},
		"Demand":        parent(c, demand.New(c.bus), demanded, demand.Sessions()),
		"Pool":          parent(c, pool.New(c.bus), pooled(rand.Text()), pool.Dllamas()),
		"Token":         face[token.Spec, token.Status]{client: token.New(c.bus), complete: c.token},
		"TokenSet":      face[tokenset.Spec, tokenset.Status]{client: tokenset.New(c.bus), complete: c.tokens},
	}}, nil
}

// revision adds what a HubRevision's spec only refers to: the token, and the
// commit that was resolved before.
func (c connections) revision(obj local.Object, s *hubrevision.Spec) error {
	var more struct {
		Spec struct {
			ForProvider struct {
				TokenSecretRef struct {
					Name string `json:"name"`
				} `json:"tokenSecretRef"`
			} `json:"forProvider"`
		} `json:"spec"`
		Status struct {
			AtProvider hubrevision.Status `json:"atProvider"`
		} `json:"status"`
	}
	if err := obj.Decode(&more); err != nil {
		return err
	}
	s.Commit = more.Status.AtProvider.Commit
	name := more.Spec.ForProvider.TokenSecretRef.Name
	if name == "" {
		return nil
	}
	data, ok := c.secret(obj.Key().Namespace, name)
	if !ok || len(data["token"]) == 0 {
		return fault.Errorf(fault.NotFound, "Secret %q with the key \"token\" does not exist", name)
	}
	s.Token = string(data["token"])
	return nil
}

// of finds what is in charge of an object.
func (m *managed) of(obj local.Object) (local.Managed, error) {
	k, ok := m.kinds[obj.Key().Kind]
	if obj.Key().Kind == "NodeLabelRule" {
		return nil, fault.Errorf(fault.Unsupported, "cannot manage %s: one machine has no nodes to label", obj.Key())
	}
	if !ok {
		return nil, fault.Errorf(fault.Unsupported, "cannot manage %s: koldun up does not know its kind", obj.Key())
	}
	return k, nil
}

func (m *managed) Observe(ctx context.Context, obj local.Object) (local.Observation, error) {
	k, err := m.of(obj)
	if err != nil {
		return local.Observation{}, err
	}
	return k.Observe(ctx, obj)
}

func (m *managed) Create(ctx context.Context, obj local.Object) error {
	k, err := m.of(obj)
	if err != nil {
		return err
	}
	return k.Create(ctx, obj)
}

func (m *managed) Update(ctx context.Context, obj local.Object) error {
	k, err := m.of(obj)
	if err != nil {
		return err
	}
	return k.Update(ctx, obj)
}

func (m *managed) Delete(ctx context.Context, obj local.Object) error {
	k, err := m.of(obj)
	if err != nil {
		return err
	}
	return k.Delete(ctx, obj)
}

// Watch watches what its kind can watch.
func (m *managed) Watch(ctx context.Context, obj local.Object, changed func()) error {
	k, err := m.of(obj)
	if err != nil {
		return nil //nolint:nilerr // Observe says so
	}
	if w, ok := k.(local.Watcher); ok {
		return w.Watch(ctx, obj, changed)
	}
	return nil
}

// A face lets an external client act on objects: spec.forProvider has the
// fields of its spec.
type face[S, O any] struct {
	client   external.Client[S, O]
	complete func(local.Object, *S) error                     // adds what the spec only refers to; may be nil
	objects  func(local.Object, S, O) ([]local.Object, error) // that are made; may be nil
}

func adapt[S, O any](c external.Client[S, O]) local.Managed { return face[S, O]{client: c} }

func (f face[S, O]) spec(obj local.Object) (S, error) {
	var s S
	if err := obj.Decode(&s, "spec", "forProvider"); err != nil {
		return s, err
	}
	if f.complete == nil {
		return s, nil
	}
	return s, f.complete(obj, &s)
}

func (f face[S, O]) Observe(ctx context.Context, obj local.Object) (local.Observation, error) {
	s, err := f.spec(obj)
	if err != nil {
		return local.Observation{}, err
	}
	o, err := f.client.Observe(ctx, s)
	if err != nil {
		return local.Observation{}, err
	}
	raw, err := json.Marshal(o.Status)
	if err != nil {
		return local.Observation{}, fmt.Errorf("cannot encode status of %s: %w", obj.Key(), err)
	}
	out := local.Observation{Exists: o.Exists, UpToDate: o.UpToDate, Ready: o.Ready, Message: o.Message, Connection: o.Connection}
	if f.objects != nil {
		if out.Objects, err = f.objects(obj, s, o.Status); err != nil {
			return local.Observation{}, err
		}
	}
	return out, json.Unmarshal(raw, &out.Status)
}

// Watch watches, if the client can.
func (f face[S, O]) Watch(ctx context.Context, obj local.Object, changed func()) error {
	w, ok := f.client.(interface {
		Watch(ctx context.Context, spec S, changed func()) error
	})
	if !ok {
		return nil
	}
	s, err := f.spec(obj)
	if err != nil {
		return nil //nolint:nilerr // Observe says so
	}
	return w.Watch(ctx, s, changed)
}

func (f face[S, O]) Create(ctx context.Context, obj local.Object) error {
	s, err := f.spec(obj)
	if err != nil {
		return err
	}
	return f.client.Create(ctx, s)
}

func (f face[S, O]) Update(ctx context.Context, obj local.Object) error {
	s, err := f.spec(obj)
	if err != nil {
		return err
	}
	return f.client.Update(ctx, s)
}

func (f face[S, O]) Delete(ctx context.Context, obj local.Object) error {
	s, err := f.spec(obj)
	if err != nil {
		return err
	}
	return f.client.Delete(ctx, s)
}
