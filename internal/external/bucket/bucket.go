// Package bucket manages S3 buckets.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

// A Client manages the buckets of one S3 service.
type Client struct {
	server      server
	connections connections
	owners      ownership
	uploads     uploads
	ports       []int32
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New returns a Client of the service. It returns the connection with each bucket.
func New(client *s3.Client, cfg s3store.Config) *Client {
	on := server{client, cfg.Region}
	return &Client{
		server: on, connections: connections{cfg, time.Now}, owners: ownership{on, tags{client}, cfg.Bound}, uploads: uploads{client, time.Now},
	}
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
	region, exists, err := c.server.head(ctx, s.BucketName)
	if err != nil || !exists {
		return external.Observation[Status]{Message: "the bucket does not exist"}, err
	}
	if s.Owner.Deleting {
		if err := c.owners.may(ctx, s); errors.Is(err, external.ErrNotOwner) {
			return external.Observation[Status]{Message: err.Error()}, nil // it stays
		} else if err != nil {
			return external.Observation[Status]{}, err
		}
	}
	o := external.Observation[Status]{Exists: true, Ready: true, Status: Status{
		Region: region, TemporaryCredentials: c.connections.config.Temporary(), NamespaceFolder: c.owners.bound.FolderIn(), Ports: c.ports,
	}}
	if denied := c.owners.bound.Check(c.connections.accesses(s)...); denied != nil {
		// The folder in the status says where files may be.
		o.Ready, o.Message = false, denied.Error()
	} else if o.Connection, err = c.connections.of(ctx, s); err != nil {
		return o, err
	}
	for _, a := range c.aspects(s) {
		same, err := a.same(ctx, s)
		if err != nil {
			return o, c.server.aspectError("read", a.name, s.BucketName, err)
		}
		if !same {
			o.Status.Differs = append(o.Status.Differs, a.name)
		}
	}
	o.UpToDate = len(o.Status.Differs) == 0
	if !o.UpToDate || s.ForceDestroy {
		if err := c.owners.may(ctx, s); err != nil {
			return external.Observation[Status]{}, fmt.Errorf("cannot manage bucket %q%s: %w", s.BucketName, c.server.at(), err)
		}
	}
	if !o.UpToDate && o.Ready {
		o.Message = "its configuration differs: " + strings.Join(o.Status.Differs, ", ")
	}
	return o, nil
}

// Create creates the bucket, or adopts one of the same owner. One that several namespaces
// have folders in is created as the server makes it, and belongs to none of them.
func (c *Client) Create(ctx context.Context, s Spec) error {
	if o := c.owners.owner(s); o.Folder != "" && (s.ForceDestroy || len(c.aspects(s)) > 0) {
		if err := o.Check(fmt.Sprintf("bucket %q", s.BucketName), ""); err != nil {
			return fmt.Errorf("cannot configure bucket %q%s: %w", s.BucketName, c.server.at(), err)
		}
	}
	in := &s3.CreateBucketInput{Bucket: &s.BucketName}
	if c.server.region != "" && c.server.region != s3store.DefaultRegion {
		// Amazon refuses the constraint for its oldest region only.
		in.CreateBucketConfiguration = &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(c.server.region)}
	}
	if _, err := c.server.s3.CreateBucket(ctx, in); err != nil {
		// The codes for "exists" differ between services: check the owner.
		if _, exists, seen := c.server.head(ctx, s.BucketName); seen != nil || !exists {
			return fmt.Errorf("cannot create bucket %q%s: %w", s.BucketName, c.server.at(), s3store.Fault(err))
		}
	} else if err := c.owners.mark(ctx, s); err != nil {
		return c.server.aspectError("set", "owner", s.BucketName, err)
	}
	return c.Update(ctx, s)
}

// Update applies the spec to the bucket.
func (c *Client) Update(ctx context.Context, s Spec) error {
	for _, a := range c.aspects(s) {
		same, err := a.same(ctx, s)
		if err != nil {
			return c.server.aspectError("read", a.name, s.BucketName, err)
		}
		if same {
			continue
		}
		if err := c.owners.may(ctx, s); err != nil {
			return c.server.aspectError("set", a.name, s.BucketName, err)
		}
		if err := a.set(ctx, s); err != nil {
			return c.server.aspectError("set", a.name, s.BucketName, err)
		}
	}
	return nil
}

// Delete deletes the bucket. It returns an error of kind Conflict for a bucket with
// objects unless ForceDestroy is set.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	if err := c.owners.may(ctx, s); err != nil {
		return fmt.Errorf("cannot delete bucket %q%s: %w", s.BucketName, c.server.at(), err)
	}
	if s.ForceDestroy {
		if err := (contents{c.server, c.uploads}).empty(ctx, s.BucketName); err != nil {
			return err
		}
	}
	_, err := c.server.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &s.BucketName})
	err = s3store.Fault(err)
	switch {
	case err == nil || fault.Is(err, fault.NotFound):
		return nil
	case code(err) == "BucketNotEmpty":
		return fault.Errorf(fault.Conflict, "cannot delete bucket %q%s: there are objects in it; remove them, or set forceDestroy to lose them: %w",
			s.BucketName, c.server.at(), err)
	}
	return fmt.Errorf("cannot delete bucket %q%s: %w", s.BucketName, c.server.at(), err)
}
