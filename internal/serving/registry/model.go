package registry

import (
	"regexp"
	"time"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// recordVersion is the current version of the schema. Readers skip records of
// newer versions.
const recordVersion = 1

// A Model is the record of a model whose files are complete.
type Model struct {
	Version   int                `json:"version"` // of the schema; 0 is 1
	Namespace string             `json:"namespace"`
	Name      string             `json:"name"`
	Created   time.Time          `json:"created"` // when its manifest was written
	Size      int64              `json:"size"`    // bytes of all files
	Weights   topology.FloatType `json:"weights,omitempty"`
	Shape     *topology.Shape    `json:"shape,omitempty"`
	Manifest  string             `json:"manifest"`       // URL of the manifest
	Digest    string             `json:"manifestSHA256"` // of the manifest, in hex
	Files     []manifest.File    `json:"files,omitempty"`
	queue.Members
	// Bare says that a resource lists the model without files, whether or not another one
	// describes files.
	Bare bool `json:"bare,omitempty"`
	// Alias says that there is no model of this name, only Members that serve
	// their own models under it.
	Alias bool `json:"alias,omitempty"`
}

// NewModel returns the record of a model by its manifest m, the URL of the
// manifest, and the manifest's SHA-256 digest in hex.
func NewModel(namespace, name, url, digest string, m manifest.Manifest) Model {
	return Model{
		Version: recordVersion, Namespace: namespace, Name: name, Created: m.Written, Size: m.Size(),
		Weights: topology.FloatType(m.Weights), Shape: m.Shape, Manifest: url, Digest: digest, Files: m.Files,
	}
}

// NewAlias returns the record of a name without a model of its own, for the first of
// its members.
func NewAlias(namespace, name string, created time.Time) Model {
	return Model{Version: recordVersion, Namespace: namespace, Name: name, Created: created, Alias: true}
}

// HasFiles reports whether the record describes files.
func (m Model) HasFiles() bool { return m.Digest != "" || m.Size != 0 || m.Weights != "" }

// ID returns the name of the model in the API, "namespace/name".
func (m Model) ID() string { return m.Namespace + "/" + m.Name }

// Key returns the model's key in the table.
func (m Model) Key() string { return names.ModelKey(m.Namespace, m.Name) }

// objectName matches valid names of Kubernetes objects.
var objectName = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$`)

func (m Model) check(key string) error {
	switch {
	case m.Version > recordVersion:
		return newer(m.Version)
	case !objectName.MatchString(m.Namespace) || !objectName.MatchString(m.Name):
		return fault.Errorf(fault.Invalid, "%q is not the name of a model", m.ID())
	case m.Key() != key:
		return fault.Errorf(fault.Invalid, "it describes model %q", m.ID())
	}
	return nil
}

func newer(version int) error {
	return fault.Errorf(fault.Unsupported, "its version is %d, want at most %d", version, recordVersion)
}
