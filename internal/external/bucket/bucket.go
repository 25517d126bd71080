// Package bucket manages S3 buckets.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

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

// A Client manages the buckets of one S3 service.
type Client struct {
	s3     *s3.Client
	config s3store.Config
	ports  []int32
	now    func() time.Time
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New returns a Client of the service. It returns the connection with each bucket.
func New(client *s3.Client, cfg s3store.Config) *Client {
	return &Client{s3: client, config: cfg, now: time.Now}
}

// Reached adds ports to the status of each bucket, which clients of the object store
// connect to.
func (c *Client) Reached(ports []int32) *Client {
	c.ports = ports
	return c
}

// Observe reports whether the bucket exists and matches the spec. A bucket of
// another owner is an error of kind Denied.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	region, exists, err := c.head(ctx, s.BucketName)
	if err != nil || !exists {
		return external.Observation[Status]{Message: "the bucket does not exist"}, err
	}
	if s.Owner.Deleting {
		if err := c.may(ctx, s); errors.Is(err, external.ErrNotOwner) {
			return external.Observation[Status]{Message: err.Error()}, nil // it stays
		} else if err != nil {
			return external.Observation[Status]{}, err
		}
	}
	o := external.Observation[Status]{Exists: true, Ready: true, Status: Status{
		Region: region, TemporaryCredentials: c.config.Temporary(), NamespaceFolder: c.config.Bound.FolderIn(), Ports: c.ports,
	}}
	if denied := c.config.Bound.Check(c.accesses(s)...); denied != nil {
		// The folder in the status says where files may be.
		o.Ready, o.Message = false, denied.Error()
	} else if o.Connection, err = c.connection(ctx, s); err != nil {
		return o, err
	}
	for _, a := range c.aspects(s) {
		same, err := a.same(ctx)
		if err != nil {
			return o, c.aspectError("read", a.name, s.BucketName, err)
		}
		if !same {
			o.Status.Differs = append(o.Status.Differs, a.name)
		}
	}
	o.UpToDate = len(o.Status.Differs) == 0
	if !o.UpToDate || s.ForceDestroy {
		if err := c.may(ctx, s); err != nil {
			return external.Observation[Status]{}, fmt.Errorf("cannot manage bucket %q%s: %w", s.BucketName, c.at(), err)
		}
	}
	if !o.UpToDate && o.Ready {
		o.Message = "its configuration differs: " + strings.Join(o.Status.Differs, ", ")
	}
	return o, nil
}

func (c *Client) head(ctx context.Context, bucket string) (region string, exists bool, err error) {
	out, err := c.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &bucket})
	if err = s3store.Fault(err); fault.Is(err, fault.NotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("cannot look up bucket %q%s: %w", bucket, c.at(), err)
	}
	if region = aws.ToString(out.BucketRegion); region == "" {
		region = c.config.Region
	}
	return region, true, nil
}

// at returns the location of the buckets, for errors, and whether requests are unsigned.
func (c *Client) at() string {
	o, at := c.s3.Options(), ""
	if e := aws.ToString(o.BaseEndpoint); e != "" {
		at = " at " + e
	}
	if o.Credentials == nil { // the SDK drops anonymous ones
		at += " without credentials"
	}
	return at
}

// Create creates the bucket, or adopts one of the same owner. One that several namespaces
// have folders in is created as the server makes it, and belongs to none of them.
func (c *Client) Create(ctx context.Context, s Spec) error {
	if o := c.owner(s); o.Folder != "" && (s.ForceDestroy || len(c.aspects(s)) > 0) {
		if err := o.Check(fmt.Sprintf("bucket %q", s.BucketName), ""); err != nil {
			return fmt.Errorf("cannot configure bucket %q%s: %w", s.BucketName, c.at(), err)
		}
	}
	in := &s3.CreateBucketInput{Bucket: &s.BucketName}
	if c.config.Region != "" && c.config.Region != s3store.DefaultRegion {
		// Amazon refuses the constraint for its oldest region only.
		in.CreateBucketConfiguration = &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(c.config.Region)}
	}
	if _, err := c.s3.CreateBucket(ctx, in); err != nil {
		// The codes for "exists" differ between services: check the owner.
		if _, exists, seen := c.head(ctx, s.BucketName); seen != nil || !exists {
			return fmt.Errorf("cannot create bucket %q%s: %w", s.BucketName, c.at(), s3store.Fault(err))
		}
	} else if err := c.mark(ctx, s); err != nil {
		return c.aspectError("set", "owner", s.BucketName, err)
	}
	return c.Update(ctx, s)
}

// Update applies the spec to the bucket.
func (c *Client) Update(ctx context.Context, s Spec) error {
	for _, a := range c.aspects(s) {
		same, err := a.same(ctx)
		if err != nil {
			return c.aspectError("read", a.name, s.BucketName, err)
		}
		if same {
			continue
		}
		if err := c.may(ctx, s); err != nil {
			return c.aspectError("set", a.name, s.BucketName, err)
		}
		if err := a.set(ctx); err != nil {
			return c.aspectError("set", a.name, s.BucketName, err)
		}
	}
	return nil
}

func (c *Client) aspectError(verb, aspect, bucket string, err error) error {
	err = s3store.Fault(err)
	if code(err) == "NotImplemented" {
		return fault.Errorf(fault.Unsupported, "cannot %s %s of bucket %q%s: the server does not implement it; remove it from the spec: %w", verb, aspect, bucket, c.at(), err)
	}
	return fmt.Errorf("cannot %s %s of bucket %q%s: %w", verb, aspect, bucket, c.at(), err)
}

// Delete deletes the bucket. It returns an error of kind Conflict for a bucket with
// objects unless ForceDestroy is set.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	if err := c.may(ctx, s); err != nil {
		return fmt.Errorf("cannot delete bucket %q%s: %w", s.BucketName, c.at(), err)
	}
	if s.ForceDestroy {
		if err := c.empty(ctx, s.BucketName); err != nil {
			return err
		}
	}
	_, err := c.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &s.BucketName})
	err = s3store.Fault(err)
	switch {
	case err == nil || fault.Is(err, fault.NotFound):
		return nil
	case code(err) == "BucketNotEmpty":
		return fault.Errorf(fault.Conflict, "cannot delete bucket %q%s: there are objects in it; remove them, or set forceDestroy to lose them: %w", s.BucketName, c.at(), err)
	}
	return fmt.Errorf("cannot delete bucket %q%s: %w", s.BucketName, c.at(), err)
}
