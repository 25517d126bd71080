// Package hubrevision observes a revision of a repository on a hub.
package hubrevision

import (
	"context"
	"errors"

	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/network/egress"
)

// maxConfig is the maximum size of config.json in the status, in bytes; usual ones
// have a few thousand.
const maxConfig = 64 << 10

// A Spec names the revision.
type Spec struct {
	Source   string `json:"source"`             // hf://ORG/REPO or https://HOST/ORG/REPO
	Revision string `json:"revision,omitempty"` // empty: main
	// TokenSecretRef names the Secret with the token, for gated and private
	// repositories.
	TokenSecretRef *external.SecretRef `json:"tokenSecretRef,omitempty"`
	TokenSecretKey string              `json:"tokenSecretKey,omitempty"` // empty: token
	// Include and Exclude choose the files that the status counts; empty: all.
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`

	Token string `json:"-"` // of TokenSecretRef
	// Commit is the commit that an earlier observation resolved the revision to. It
	// stays: a branch that moves does not change a model.
	Commit string `json:"-"`
}

// A Status is the observed state of the revision.
type Status struct {
	Source   string `json:"source,omitempty"`   // as in the spec
	Revision string `json:"revision,omitempty"` // as in the spec
	Commit   string `json:"commit,omitempty"`
	// Refusal is the reason of a refusal by the hub that a retry cannot change.
	Refusal string `json:"refusal,omitempty"`
	// NotAllowed says that the refusal is an ErrNotAllowed.
	NotAllowed bool   `json:"notAllowed,omitempty"`
	Files      int    `json:"files,omitempty"`
	SizeBytes  int64  `json:"sizeBytes,omitempty"`
	Config     string `json:"config,omitempty"`
	// Ports that clients of the hub connect to.
	Ports []int32 `json:"ports,omitempty"`
}

// A Hub is the part of hub.Client that a Client uses.
type Hub interface {
	Resolve(ctx context.Context, repo, revision string) (commit string, err error)
	Tree(ctx context.Context, repo, commit string) ([]hub.File, error)
	ReadFile(ctx context.Context, repo, commit, path string, limit int64) ([]byte, error)
	// Env returns the hub and its token as environment variables of a workload.
	Env() map[string][]byte
}

// Hubs returns the client of the hub of a repository. An empty endpoint is the default one.
// Errors: ErrNotAllowed.
type Hubs func(ctx context.Context, repo modelref.Ref, token string) (Hub, error)

// ErrNotAllowed is in the error for a repository that the platform team does not allow.
var ErrNotAllowed = errors.New("the platform team does not allow the repository")

// A Client observes revisions. There is nothing to create.
type Client struct {
	hubs  Hubs
	ports []int32
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New returns a Client.
func New(hubs Hubs) *Client { return &Client{hubs: hubs} }

// Reached adds ports to the status of each revision, beside that of its hub, which clients
// of the hub connect to.
func (c *Client) Reached(ports []int32) *Client {
	c.ports = ports
	return c
}

// Observe resolves the revision, once, and describes the commit.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	o := external.Observation[Status]{Exists: true, UpToDate: true}
	ref, err := modelref.Parse(s.Source)
	if err != nil {
		return o, fault.As(fault.Invalid, err)
	}
	client, err := c.hubs(ctx, ref, s.Token)
	if errors.Is(err, ErrNotAllowed) {
		o.Status, o.Message = s.refused(err), err.Error()
		o.Status.NotAllowed = true
		return o, nil
	}
	if err != nil {
		return o, err
	}
	o.Connection = client.Env()
	ports := egress.Union(egress.Ports("https", string(o.Connection[names.EnvHFEndpoint])), c.ports)
	if s.Token != "" { // workloads refer to its own Secret
		delete(o.Connection, names.EnvHFToken)
	}
	revision := s.Revision
	if s.Commit != "" {
		revision = s.Commit
	}
	if revision == "" {
		revision = "main"
	}
	o.Status, err = describe(ctx, client, ref.Repo, revision, s.chooses)
	if fault.Final(err) {
		o.Status, o.Message = s.refused(err), err.Error()
		o.Status.Ports = ports
		return o, nil
	}
	o.Status.Source, o.Status.Revision = s.Source, s.Revision
	o.Status.Ports = ports
	o.Ready = err == nil
	return o, err
}

func (s Spec) refused(err error) Status {
	return Status{Source: s.Source, Revision: s.Revision, Commit: s.Commit, Refusal: err.Error()}
}

// chooses reports whether the patterns choose a file.
func (s Spec) chooses(path string) bool {
	return (len(s.Include) == 0 || hub.Match(s.Include, path)) && !hub.Match(s.Exclude, path)
}

func describe(ctx context.Context, client Hub, repo, revision string, chosen func(path string) bool) (Status, error) {
	commit, err := client.Resolve(ctx, repo, revision)
	if err != nil {
		return Status{}, err
	}
	files, err := client.Tree(ctx, repo, commit)
	if err != nil {
		return Status{}, err
	}
	config, err := client.ReadFile(ctx, repo, commit, "config.json", maxConfig)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return Status{}, err
	}
	s := Status{Commit: commit, Config: string(config)}
	for _, f := range files {
		if chosen(f.Path) {
			s.Files++
			s.SizeBytes += f.Size
		}
	}
	return s, nil
}

// Create has nothing to do.
func (c *Client) Create(context.Context, Spec) error { return nil }

// Update has nothing to do.
func (c *Client) Update(context.Context, Spec) error { return nil }

// Delete has nothing to do: nothing on the hub belongs to Koldun.
func (c *Client) Delete(context.Context, Spec) error { return nil }
