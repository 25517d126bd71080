// Package modelrecord manages the entry of a model in the registry. It is made
// from the manifest of the model's files, so it never lists what is not whole.
package modelrecord

import (
	"context"
	"strings"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/manifest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/registry"
)

// A Spec describes the entry.
type Spec struct {
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	ArtifactURL string `json:"artifactUrl"`
}

// A Status is what is shown of the entry.
type Status struct {
	Key            string `json:"key,omitempty"`
	ManifestSHA256 string `json:"manifestSHA256,omitempty"`
}

// A Client manages the entries of one registry.
type Client struct {
	open   modelartifact.Stores
	models *registry.Table[registry.Model]
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New is a Client.
func New(open modelartifact.Stores, models *registry.Table[registry.Model]) *Client {
	return &Client{open: open, models: models}
}

// Observe compares the entry with the manifest.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	want, err := c.want(ctx, s)
	if err != nil {
		return external.Observation[Status]{}, err
	}
	have, err := c.models.Get(ctx, want.Key())
	if fault.Is(err, fault.NotFound) {
		return external.Observation[Status]{Message: "the registry has no entry"}, nil
	}
	if err != nil && !fault.Is(err, fault.Corrupt) {
		return external.Observation[Status]{}, err
	}
	same := err == nil && have.Value.Digest == want.Digest && have.Value.Manifest == want.Manifest
	o := external.Observation[Status]{Exists: true, UpToDate: same, Ready: same, Status: Status{Key: want.Key(), ManifestSHA256: have.Value.Digest}}
	if !same {
		o.Message = "the entry is of other files"
	}
	return o, nil
}

// Create writes the entry.
func (c *Client) Create(ctx context.Context, s Spec) error {
	want, err := c.want(ctx, s)
	if err != nil {
		return err
	}
	_, err = c.models.Put(ctx, want.Key(), want)
	return err
}

// Update writes the entry anew.
func (c *Client) Update(ctx context.Context, s Spec) error { return c.Create(ctx, s) }

// Delete removes the entry.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	return c.models.Delete(ctx, names.ModelKey(s.Namespace, s.Name), 0)
}

func (c *Client) want(ctx context.Context, s Spec) (registry.Model, error) {
	store, err := c.open(ctx, s.ArtifactURL)
	if err != nil {
		return registry.Model{}, err
	}
	m, digest, err := manifest.Load(ctx, store)
	if err != nil {
		return registry.Model{}, err
	}
	url := strings.TrimSuffix(store.URL(), "/") + "/" + names.Manifest
	return registry.NewModel(s.Namespace, s.Name, url, digest, m), nil
}
