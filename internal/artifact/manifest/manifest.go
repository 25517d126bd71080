// Package manifest describes the files of a model. A manifest is written last: a
// folder with one holds a complete model, a folder without one does not.
package manifest

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"slices"
	"sort"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
)

// Version is the schema of the manifests that this package writes.
const Version = "koldun.gorizond.io/manifest/v1"

// A Kind is the kind of files that a manifest lists.
type Kind string

// The kinds.
const (
	Source    Kind = "source"    // the files of the hub
	Converted Kind = "converted" // .m and .t files
)

// A Manifest lists the files of one folder with their sizes and digests.
type Manifest struct {
	Version string    `json:"version"`
	Kind    Kind      `json:"kind"`
	Origin  Origin    `json:"origin"`
	Files   []File    `json:"files"` // sorted by path
	Written time.Time `json:"written"`

	// Of converted models:
	Name      string          `json:"name,omitempty"`      // in the file names
	Weights   string          `json:"weights,omitempty"`   // q40, f32, ...
	Converter string          `json:"converter,omitempty"` // version of the conversion's bytes
	Shape     *topology.Shape `json:"shape,omitempty"`     // the model's header
}

// An Origin is where the bytes came from.
type Origin struct {
	Source string `json:"source"`           // in the form of modelref, without the revision
	Commit string `json:"commit,omitempty"` // the hub's commit, 40 hex digits
	// Digest is the SHA-256 of the manifest that a conversion read, or of the
	// listing of a source that has no manifest.
	Digest string `json:"digest,omitempty"`
	// Include and Exclude are the patterns that chose the files of a fetch.
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
	// Reload identifies the request that the fetch downloads all files again.
	Reload string `json:"reload,omitempty"`
	// Owner is the object that the folder belongs to, NAMESPACE/NAME; empty if anyone
	// may replace the files.
	Owner string `json:"owner,omitempty"`
}

// Equal reports whether two origins name the same bytes. Owners do not count.
func (o Origin) Equal(p Origin) bool {
	return o.Source == p.Source && o.Commit == p.Commit && o.Digest == p.Digest && o.Reload == p.Reload &&
		slices.Equal(o.Include, p.Include) && slices.Equal(o.Exclude, p.Exclude)
}

// A File is one listed file.
type File struct {
	Path   string `json:"path"` // relative, with slashes
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
	ETag   string `json:"etag,omitempty"` // of the stored object
}

// Size returns the sum of the files' sizes in bytes.
func (m Manifest) Size() int64 {
	var n int64
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// File finds a file by its path.
func (m Manifest) File(path string) (File, bool) {
	for _, f := range m.Files {
		if f.Path == path {
			return f, true
		}
	}
	return File{}, false
}

// Encode sorts the files and writes the manifest as indented JSON.
func Encode(m Manifest) ([]byte, error) {
	m.Version = Version
	m.Files = slices.Clone(m.Files)
	sort.Slice(m.Files, func(i, j int) bool { return m.Files[i].Path < m.Files[j].Path })
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

// Decode reads and validates a manifest. Errors: Corrupt.
func Decode(b []byte) (Manifest, error) {
	var m Manifest
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&m); err != nil {
		return Manifest{}, fault.Errorf(fault.Corrupt, "cannot read manifest: %w", err)
	}
	if m.Version != Version {
		return Manifest{}, fault.Errorf(fault.Corrupt, "cannot read manifest: version is %q, want %q", m.Version, Version)
	}
	seen := map[string]bool{}
	for _, f := range m.Files {
		if !fs.ValidPath(f.Path) || f.Path == "." || f.Size < 0 || !isSHA256(f.SHA256) || seen[f.Path] {
			return Manifest{}, fault.Errorf(fault.Corrupt, "cannot read manifest: entry of file %q is not valid, or listed twice", f.Path)
		}
		seen[f.Path] = true
	}
	return m, nil
}

func isSHA256(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 64
}
