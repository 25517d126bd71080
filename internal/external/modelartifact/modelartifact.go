// Package modelartifact observes the files of a model in the object store, and
// the progress of the Job that writes them.
package modelartifact

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/verify"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
)

// A Spec names the files.
type Spec struct {
	URL         string `json:"url"` // s3://BUCKET/PREFIX, or pvc://CLAIM/FILE
	ProgressKey string `json:"progressKey,omitempty"`
	// Source and Commit are those that the manifest has to name; "" is any. A folder of
	// a shared bucket may hold what another hub claims to be the same commit.
	Source string `json:"source,omitempty"`
	Commit string `json:"commit,omitempty"`
	// Verify requests a comparison of all bytes with the manifest when it changes.
	Verify string `json:"verify,omitempty"`
	// Verified is the value that an earlier observation has verified the files for.
	Verified string `json:"-"`

	Owner external.Owner `json:"-"`
}

// A Status is the observed state of the files.
type Status struct {
	Whole          bool            `json:"whole,omitempty"`
	ManifestSHA256 string          `json:"manifestSHA256,omitempty"`
	SizeBytes      int64           `json:"sizeBytes,omitempty"`
	ModelFile      string          `json:"modelFile,omitempty"`
	TokenizerFile  string          `json:"tokenizerFile,omitempty"`
	Weights        string          `json:"weights,omitempty"`
	Shape          *topology.Shape `json:"shape,omitempty"`
	Verified       string          `json:"verified,omitempty"` // value of Verify for which the files match the manifest
	Progress       *Progress       `json:"progress,omitempty"`
}

// A Progress is the last report of a Job.
type Progress struct {
	Stage          string         `json:"stage,omitempty"`
	Phase          progress.Phase `json:"phase,omitempty"`
	Item           string         `json:"item,omitempty"`
	Bytes          int64          `json:"bytes,omitempty"`
	Total          int64          `json:"total,omitempty"`
	Percent        int            `json:"percent,omitempty"`
	ETASeconds     int64          `json:"etaSeconds,omitempty"`
	BytesPerSecond int64          `json:"bytesPerSecond,omitempty"`
	Message        string         `json:"message,omitempty"`
}

// A Stores opens the store of a URL.
type Stores func(ctx context.Context, url string) (objectstore.Store, error)

// A Reports reads the report of a Job by its key. Errors: NotFound.
type Reports func(ctx context.Context, key string) (progress.Report, error)

// A Client observes artifacts. Jobs write them; Create and Update do nothing.
type Client struct {
	open     Stores
	reports  Reports
	verifier *Verifier
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New returns a Client that verifies artifacts in the background by v. If v is nil,
// Observe verifies them, and blocks until it has read all files.
func New(open Stores, reports Reports, v *Verifier) *Client {
	return &Client{open: open, reports: reports, verifier: v}
}

// Observe reads the manifest, and checks that all its files exist with their
// sizes. An artifact always exists; it is ready when it is complete.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	if names.InVolume(s.URL) {
		return c.observeVolume(ctx, s)
	}
	if err := s.may(); s.Owner.Deleting && errors.Is(err, external.ErrNotOwner) {
		return external.Observation[Status]{Message: err.Error()}, nil // they stay
	}
	o := external.Observation[Status]{Exists: true, UpToDate: true}
	store, err := c.open(ctx, s.URL)
	if err != nil {
		return o, err
	}
	m, digest, err := manifest.Load(ctx, store)
	if fault.Is(err, fault.NotFound) {
		o.Message = "no manifest yet"
		o.Status.Progress, err = c.progress(ctx, s.ProgressKey)
		return o, err
	}
	if err != nil {
		return o, err
	}
	if o.Message = s.otherThan(m); o.Message != "" {
		o.Status.Progress, err = c.progress(ctx, s.ProgressKey)
		return o, err
	}
	if o.Message, err = missing(ctx, store, m); err != nil || o.Message != "" {
		return o, err
	}
	verified := s.Verified
	if s.Verify != verified {
		done, err := c.verify(ctx, store, digest, s.Verify)
		if fault.Is(err, fault.Corrupt) {
			o.Message = err.Error()
			return o, nil
		}
		if err != nil {
			return o, err
		}
		if done {
			verified = s.Verify
		} else {
			o.Message = "sizes and digests are being verified"
		}
	}
	o.Ready = true
	o.Status = Status{
		Whole: true, ManifestSHA256: digest, SizeBytes: m.Size(), Weights: m.Weights, Shape: m.Shape, Verified: verified,
	}
	if m.Kind == manifest.Converted {
		o.Status.ModelFile, o.Status.TokenizerFile = converted(m)
	} else {
		o.Status.ModelFile = gguf(m)
	}
	return o, nil
}

// otherThan says that the files of a manifest are not those of the spec; "" if they are.
func (s Spec) otherThan(m manifest.Manifest) string {
	if (s.Source == "" || s.Source == m.Origin.Source) && (s.Commit == "" || s.Commit == m.Origin.Commit) {
		return ""
	}
	return fmt.Sprintf("the files are of commit %q of %s, not of commit %q of %s", m.Origin.Commit, m.Origin.Source, s.Commit, s.Source)
}

// verify reports whether all bytes have been compared with the manifest.
func (c *Client) verify(ctx context.Context, store objectstore.Store, digest, value string) (done bool, err error) {
	switch {
	case value == "":
		return true, nil
	case c.verifier != nil:
		return c.verifier.verified(store, digest, value)
	}
	_, err = verify.Run(ctx, verify.Config{Store: store})
	return err == nil, err
}

// missing names the first file that does not exist with the size in the manifest.
func missing(ctx context.Context, store objectstore.Store, m manifest.Manifest) (string, error) {
	objects, err := store.List(ctx, "")
	if err != nil {
		return "", err
	}
	sizes := make(map[string]int64, len(objects))
	for _, o := range objects {
		sizes[o.Name] = o.Size
	}
	for _, f := range m.Files {
		size, ok := sizes[f.Path]
		if !ok {
			return fmt.Sprintf("file %q of the manifest is missing", f.Path), nil
		}
		if size != f.Size {
			return fmt.Sprintf("file %q has %d bytes, and %d in the manifest", f.Path, size, f.Size), nil
		}
	}
	return "", nil
}

// converted returns the names of the .m and .t files.
func converted(m manifest.Manifest) (model, tokenizer string) {
	for _, f := range m.Files {
		switch f.Path {
		case names.ModelFile(m.Name, m.Weights):
			model = f.Path
		case names.TokenizerFile(m.Name):
			tokenizer = f.Path
		}
	}
	return model, tokenizer
}

// gguf returns the .gguf file of a model's source files, the first one of a model in
// several; empty if there is none, or one of more than one model.
func gguf(m manifest.Manifest) (file string) {
	for _, f := range m.Files {
		if !strings.HasSuffix(f.Path, ".gguf") || strings.Contains(path.Base(f.Path), "mmproj") {
			continue
		}
		if part := shard.FindStringSubmatch(f.Path); part != nil && part[1] != "00001" {
			continue
		}
		if file != "" {
			return ""
		}
		file = f.Path
	}
	return file
}

// shard matches a file of a model in several: its number and how many there are.
var shard = regexp.MustCompile(`-(\d{5})-of-\d{5}\.gguf$`)

func (c *Client) progress(ctx context.Context, key string) (*Progress, error) {
	if key == "" {
		return nil, nil
	}
	r, err := c.reports(ctx, key)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return progressOf(r), nil
}

// progressOf leaves out the shape: the status has it once the files are complete.
func progressOf(r progress.Report) *Progress {
	return &Progress{
		Stage: r.Stage, Phase: r.Phase, Item: r.Item, Bytes: r.Bytes, Total: r.Total, Percent: r.Percent(),
		ETASeconds: int64(r.ETA().Round(time.Second) / time.Second), BytesPerSecond: r.BytesPerSecond, Message: r.Message,
	}
}

// Create has nothing to do.
func (c *Client) Create(context.Context, Spec) error { return nil }

// Update has nothing to do.
func (c *Client) Update(context.Context, Spec) error { return nil }

// may returns why the files must not be deleted. Files have no owner: models of several
// namespaces share them.
func (s Spec) may() error { return s.Owner.Check("the folder", "") }

// Delete deletes the files, the manifest first: the remaining files are no model.
// Those of a volume are not the resource's.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	if names.InVolume(s.URL) {
		return nil
	}
	if err := s.may(); err != nil {
		return fmt.Errorf("cannot delete the files in %q: %w", s.URL, err)
	}
	store, err := c.open(ctx, s.URL)
	if err != nil {
		return err
	}
	if err := store.Remove(ctx, names.Manifest); err != nil {
		return err
	}
	objects, err := store.List(ctx, "")
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := store.Remove(ctx, o.Name); err != nil {
			return err
		}
	}
	return nil
}
