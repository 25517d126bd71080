// Package modelrecord manages the entry of a model in the registry. The entry
// follows from the manifest of the model's files, so that it never lists a model
// that is not whole. Files in a volume cannot be read: their entry follows from the
// spec.
package modelrecord

import (
	"context"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/manifest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/registry"
)

// A Spec describes the entry.
type Spec struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// ArtifactURL is the folder with the files: s3://BUCKET/PREFIX. Empty: they are
	// in a volume, and the entry has SizeBytes and Weights.
	ArtifactURL string `json:"artifactUrl,omitempty"`
	SizeBytes   int64  `json:"sizeBytes,omitempty"`
	Weights     string `json:"weights,omitempty"`

	// Foreign says that the entry belongs to another namespace than the resource,
	// which therefore has none to delete.
	Foreign bool `json:"-"`
}

// A Status describes the observed entry.
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

// New returns a Client.
func New(open modelartifact.Stores, models *registry.Table[registry.Model]) *Client {
	return &Client{open: open, models: models}
}

// Observe compares the entry with the manifest. Without one the entry is not up
// to date, and Update returns why.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	if s.Foreign {
		return external.Observation[Status]{Message: "the entry belongs to another namespace"}, nil
	}
	key := names.ModelKey(s.Namespace, s.Name)
	have, err := c.models.Get(ctx, key)
	if fault.Is(err, fault.NotFound) {
		return external.Observation[Status]{Message: "the registry has no entry"}, nil
	}
	unreadable := fault.Is(err, fault.Corrupt) || fault.Is(err, fault.Invalid)
	if err != nil && !unreadable {
		return external.Observation[Status]{}, err
	}
	o := external.Observation[Status]{Exists: true, Status: Status{Key: key, ManifestSHA256: have.Value.Digest}}
	want, err := c.want(ctx, s)
	switch {
	case fault.Is(err, fault.NotFound):
		o.Message = err.Error()
	case err != nil:
		return external.Observation[Status]{}, err
	case unreadable || !same(have.Value, want):
		o.Message = "the entry is of other files"
	default:
		o.UpToDate, o.Ready = true, true
	}
	return o, nil
}

// same reports whether two entries describe the same files.
func same(a, b registry.Model) bool {
	return a.Digest == b.Digest && a.Manifest == b.Manifest && (a.Digest != "" || a.Size == b.Size && a.Weights == b.Weights)
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

// Update writes the entry. Without a manifest there is no model: it then deletes
// the entry, which comes back with the manifest, and returns NotFound.
func (c *Client) Update(ctx context.Context, s Spec) error {
	err := c.Create(ctx, s)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	if gone := c.Delete(ctx, s); gone != nil {
		return gone
	}
	return err
}

// Delete deletes the entry, unless it belongs to another namespace.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	if s.Foreign {
		return nil
	}
	return c.models.Delete(ctx, names.ModelKey(s.Namespace, s.Name), 0)
}

func (c *Client) want(ctx context.Context, s Spec) (registry.Model, error) {
	if s.ArtifactURL == "" {
		m := manifest.Manifest{Weights: s.Weights, Written: time.Now().UTC().Truncate(time.Second)}
		r := registry.NewModel(s.Namespace, s.Name, "", "", m)
		r.Size = s.SizeBytes
		return r, nil
	}
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
