// Package modelrecord manages the entry of a model in the registry. The entry
// follows from the manifest of the model's files, so that it never lists a model
// that is not whole. Files in a volume cannot be read: their entry follows from the
// spec.
//
// A spec with a group describes one member of an entry instead. Members and model
// are written and deleted independently, so that an entry exists while it has either.
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
	// Group makes the spec describe a member of the entry: the group of runners that
	// serves it with Weight (nil: queue.DefaultWeight) and Fallback.
	Group    string `json:"group,omitempty"`
	Weight   *int   `json:"weight,omitempty"`
	Fallback bool   `json:"fallback,omitempty"`

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
	if s.Group != "" {
		return observeMember(s, have.Value, err)
	}
	if fault.Is(err, fault.NotFound) || err == nil && have.Value.Alias {
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

// bare reports whether the spec describes no files. An entry can be of such a spec and of
// one with files: two resources then list one model, and neither overwrites the other.
func (s Spec) bare() bool { return s.ArtifactURL == "" && s.SizeBytes == 0 && s.Weights == "" }

// same reports whether an entry is of the spec that want follows from.
func same(have, want registry.Model) bool {
	if want.Bare {
		return have.Bare
	}
	return have.Digest == want.Digest && have.Manifest == want.Manifest && (have.Digest != "" || have.Size == want.Size && have.Weights == want.Weights)
}

// Create writes the entry or the member. A spec without files drops those of the entry: they
// may be of an earlier spec of the same resource. A resource that still describes them writes
// them again.
func (c *Client) Create(ctx context.Context, s Spec) error {
	if s.Group != "" {
		return c.edit(ctx, s, s.addMember)
	}
	want, err := c.want(ctx, s)
	if err != nil {
		return err
	}
	return c.edit(ctx, s, func(old *registry.Model) *registry.Model {
		next := want
		if old != nil {
			next.Members = old.Members
			next.Bare = next.Bare || old.Bare
		}
		return &next
	})
}

// Update writes the entry or the member. Without a manifest there is no model: it then deletes
// the entry, which comes back with the manifest, and returns NotFound. What a resource without
// files lists stays.
func (c *Client) Update(ctx context.Context, s Spec) error {
	err := c.Create(ctx, s)
	if !fault.Is(err, fault.NotFound) || s.Group != "" {
		return err
	}
	gone := c.edit(ctx, s, func(old *registry.Model) *registry.Model {
		switch {
		case old == nil || !old.Bare:
			return s.remove(old)
		case !old.HasFiles():
			return old
		}
		next := registry.NewModel(s.Namespace, s.Name, "", "", manifest.Manifest{Written: old.Created})
		next.Members, next.Bare = old.Members, true
		return &next
	})
	if gone != nil {
		return gone
	}
	return err
}

// Delete deletes the entry or the member, unless the entry belongs to another
// namespace. Members keep an entry without its model. A spec without files leaves an entry
// with files to the resource that describes them.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	if s.Foreign {
		return nil
	}
	if s.Group != "" {
		return c.edit(ctx, s, s.removeMember)
	}
	return c.edit(ctx, s, s.remove)
}

// remove returns what is left of the entry without the model, or nil.
func (s Spec) remove(old *registry.Model) *registry.Model {
	if old != nil && s.bare() && old.HasFiles() {
		next := *old
		next.Bare = false
		return &next
	}
	if old == nil || len(old.Members.Members) == 0 {
		return nil
	}
	alias := registry.NewAlias(s.Namespace, s.Name, old.Created)
	alias.Members = old.Members
	return &alias
}

func (c *Client) want(ctx context.Context, s Spec) (registry.Model, error) {
	if s.ArtifactURL == "" {
		m := manifest.Manifest{Weights: s.Weights, Written: time.Now().UTC().Truncate(time.Second)}
		r := registry.NewModel(s.Namespace, s.Name, "", "", m)
		r.Size, r.Bare = s.SizeBytes, s.bare()
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
