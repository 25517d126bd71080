// Package modelrecord manages the entry of a model in the registry. The entry
// follows from the manifest of the model's files, so that it never lists a model
// that is not whole. Files in a volume cannot be read: their entry follows from the
// spec.
//
// A spec with a group describes one member of an entry instead. Members and model
// are written and deleted independently, so that an entry exists while it has either.
//
// A spec without files only lists the model. Two resources can be of one entry, one with
// files and one without: neither overwrites or deletes what the other one describes.
package modelrecord

import (
	"context"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/registry"
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

	// Described is Status.Files of the last observation: a resource whose spec had files
	// then, and has none now, drops them from the entry.
	Described bool `json:"-"`
	// Foreign says that the entry belongs to another namespace than the resource,
	// which therefore has none to delete.
	Foreign bool `json:"-"`
}

// A Status describes the observed entry.
type Status struct {
	Key            string `json:"key,omitempty"`
	ManifestSHA256 string `json:"manifestSHA256,omitempty"`
	// Files says that the entry has the files of this spec. It stays while the entry is
	// not up to date.
	Files bool `json:"files,omitempty"`
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
	o := external.Observation[Status]{Exists: true, Status: Status{Key: key, ManifestSHA256: have.Value.Digest, Files: s.Described}}
	want, err := c.want(ctx, s)
	switch {
	case fault.Is(err, fault.NotFound):
		o.Message = err.Error()
	case err != nil:
		return external.Observation[Status]{}, err
	case unreadable || !same(have.Value, want) || s.bare() && s.Described && have.Value.HasFiles():
		o.Message = "the entry is of other files"
	default:
		o.UpToDate, o.Ready, o.Status.Files = true, true, !s.bare()
	}
	return o, nil
}

// bare reports whether the spec describes no files.
func (s Spec) bare() bool { return s.ArtifactURL == "" && s.SizeBytes == 0 && s.Weights == "" }

// same reports whether an entry is of the spec that want follows from.
func same(have, want registry.Model) bool {
	if want.Bare {
		return have.Bare
	}
	return have.Digest == want.Digest && have.Manifest == want.Manifest && (have.Digest != "" || have.Size == want.Size && have.Weights == want.Weights)
}

// Create writes the entry or the member.
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
		switch {
		case old == nil:
			return &next
		case s.bare() && !s.Described && old.HasFiles():
			next = *old
			next.Bare = true
		case s.Described:
			next.Bare = next.Bare || old.Bare
		}
		next.Members = old.Members
		return &next
	})
}

// Update writes the entry or the member. Without a manifest there is no model: it then drops
// the files from the entry, which come back with the manifest, and returns NotFound.
func (c *Client) Update(ctx context.Context, s Spec) error {
	err := c.Create(ctx, s)
	if !fault.Is(err, fault.NotFound) || s.Group != "" {
		return err
	}
	gone := c.edit(ctx, s, func(old *registry.Model) *registry.Model { return s.keep(old, false, true) })
	if gone != nil {
		return gone
	}
	return err
}

// Delete deletes the entry or the member, unless the entry belongs to another
// namespace. Members keep an entry without its model.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	if s.Foreign {
		return nil
	}
	if s.Group != "" {
		return c.edit(ctx, s, s.removeMember)
	}
	// What the last observation says may be of an earlier spec.
	return c.edit(ctx, s, func(old *registry.Model) *registry.Model {
		return s.keep(old, s.bare() && !s.Described, !s.bare() && s.Described)
	})
}

// keep returns what is left of an entry with its members, with its files if files is set, and
// listed without files if bare is set and it was; nil if nothing is left.
func (s Spec) keep(old *registry.Model, files, bare bool) *registry.Model {
	if old == nil {
		return nil
	}
	files, bare = files && old.HasFiles(), bare && old.Bare
	var next registry.Model
	switch {
	case (files || bare) && files == old.HasFiles() && bare == old.Bare:
		return old
	case files:
		next = *old
	case bare:
		next = registry.NewModel(s.Namespace, s.Name, "", "", manifest.Manifest{Written: old.Created})
	case len(old.Members.Members) > 0:
		next = registry.NewAlias(s.Namespace, s.Name, old.Created)
	default:
		return nil
	}
	next.Bare, next.Members = bare, old.Members
	return &next
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
