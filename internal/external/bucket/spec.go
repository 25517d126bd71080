package bucket

import "github.com/gorizond/koldun/internal/external"

// A Spec describes a bucket. Absent fields are never requested, so that a
// server need not implement them.
type Spec struct {
	BucketName string `json:"bucketName"`
	// ForceDestroy lets Delete remove the objects as well.
	ForceDestroy   bool              `json:"forceDestroy,omitempty"`
	Versioning     string            `json:"versioning,omitempty"`     // Enabled or Suspended
	LifecycleRules *[]Rule           `json:"lifecycleRules,omitempty"` // the complete list of rules
	Tags           map[string]string `json:"tags,omitzero"`            // the complete set of tags
	Policy         string            `json:"policy,omitempty"`         // JSON
	// AbortUploadsAfterDays is the age at which an incomplete multipart upload is
	// aborted: by Update, not by a rule, because many servers have no rules.
	AbortUploadsAfterDays int `json:"abortUploadsAfterDays,omitempty"`
	// Access limits temporary credentials in the connection. Empty: all objects of the
	// bucket may be read and written.
	Access []Access `json:"access,omitempty"`

	Owner external.Owner `json:"-"`
	// Stored is the connection that was observed before.
	Stored map[string][]byte `json:"-"`
}

// An Access is a right to the objects of a folder.
type Access struct {
	Bucket string `json:"bucket,omitempty"` // empty: BucketName
	Prefix string `json:"prefix,omitempty"` // empty: all objects
	Write  bool   `json:"write,omitempty"`
}

// A Rule makes the server delete objects.
type Rule struct {
	ID             string `json:"id"`
	Prefix         string `json:"prefix,omitempty"`
	ExpirationDays int32  `json:"expirationDays,omitempty"` // 0: they stay
	NoncurrentDays int32  `json:"noncurrentDays,omitempty"` // of old versions; 0: they stay
}

// A Status is the observed state of a bucket.
type Status struct {
	Region string `json:"region,omitempty"`
	// Differs names the aspects that Update would change.
	Differs []string `json:"differs,omitempty"`
	// TemporaryCredentials says that those in the connection are.
	TemporaryCredentials bool `json:"temporaryCredentials,omitempty"`
	// NamespaceFolder is what the namespace may write; empty: all folders.
	NamespaceFolder string `json:"namespaceFolder,omitempty"`
	// Ports that clients of the object store connect to.
	Ports []int32 `json:"ports,omitempty"`
}
