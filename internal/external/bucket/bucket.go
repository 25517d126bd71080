// Package bucket manages S3 buckets.
package bucket

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/objectstore"
)

// A Spec describes a bucket.
type Spec struct {
	BucketName string `json:"bucketName"`
	// ForceDestroy lets Delete remove the objects as well.
	ForceDestroy bool `json:"forceDestroy,omitempty"`
}

// A Status is what is shown of a bucket.
type Status struct {
	Region string `json:"region,omitempty"`
}

// A Client manages the buckets of one S3 service.
type Client struct {
	s3         *s3.Client
	region     string
	connection map[string][]byte
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New is a Client that hands out the connection with each bucket.
func New(client *s3.Client, region string, connection map[string][]byte) *Client {
	return &Client{s3: client, region: region, connection: connection}
}

// Observe looks whether the bucket exists. A bucket of somebody else's is an
// error of kind Denied.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	out, err := c.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.BucketName})
	if err = objectstore.S3Error(err); fault.Is(err, fault.NotFound) {
		return external.Observation[Status]{Message: "the bucket does not exist"}, nil
	}
	if err != nil {
		return external.Observation[Status]{}, fmt.Errorf("cannot look up bucket %q: %w", s.BucketName, err)
	}
	region := aws.ToString(out.BucketRegion)
	if region == "" {
		region = c.region
	}
	return external.Observation[Status]{Exists: true, UpToDate: true, Ready: true, Status: Status{Region: region}, Connection: c.connection}, nil
}

// Create makes the bucket. One that we own already is fine.
func (c *Client) Create(ctx context.Context, s Spec) error {
	in := &s3.CreateBucketInput{Bucket: &s.BucketName}
	if c.region != "" && c.region != objectstore.DefaultRegion {
		// Amazon refuses the constraint for its oldest region only.
		in.CreateBucketConfiguration = &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(c.region)}
	}
	_, err := c.s3.CreateBucket(ctx, in)
	if err == nil {
		return nil
	}
	// The codes for "exists" differ between services: look who owns it.
	if o, seen := c.Observe(ctx, s); seen == nil && o.Exists {
		return nil
	}
	return fmt.Errorf("cannot create bucket %q: %w", s.BucketName, objectstore.S3Error(err))
}

// Update has nothing to change.
func (c *Client) Update(context.Context, Spec) error { return nil }

// Delete removes the bucket. One with objects in it is left alone, and an
// error of kind Conflict, unless ForceDestroy is set.
func (c *Client) Delete(ctx context.Context, s Spec) error {
	if s.ForceDestroy {
		if err := c.empty(ctx, s.BucketName); err != nil {
			return err
		}
	}
	_, err := c.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &s.BucketName})
	if err = objectstore.S3Error(err); err != nil && !fault.Is(err, fault.NotFound) {
		return fmt.Errorf("cannot delete bucket %q: %w", s.BucketName, err)
	}
	return nil
}

// empty removes all objects.
func (c *Client) empty(ctx context.Context, bucket string) error {
	pages := s3.NewListObjectsV2Paginator(c.s3, &s3.ListObjectsV2Input{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err = objectstore.S3Error(err); fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot list bucket %q: %w", bucket, err)
		}
		for _, o := range page.Contents {
			if _, err := c.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: o.Key}); err != nil {
				return fmt.Errorf("cannot delete object %q of bucket %q: %w", aws.ToString(o.Key), bucket, objectstore.S3Error(err))
			}
		}
	}
	return nil
}
