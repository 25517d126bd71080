package bucket

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
)

// empty deletes all objects with their versions, and incomplete uploads.
func (c *Client) empty(ctx context.Context, bucket string) error {
	err := c.emptyVersions(ctx, bucket)
	if code(err) == "NotImplemented" || code(err) == "MethodNotAllowed" {
		err = c.emptyObjects(ctx, bucket) // a server without versions
	}
	if err == nil {
		var uploads []types.MultipartUpload
		if uploads, err = c.uploads(ctx, bucket); err == nil {
			err = c.abort(ctx, bucket, uploads)
		}
	}
	if err = s3store.Fault(err); err == nil || fault.Is(err, fault.NotFound) {
		return nil
	}
	return fmt.Errorf("cannot empty bucket %q%s: %w", bucket, c.at(), err)
}

func (c *Client) emptyVersions(ctx context.Context, bucket string) error {
	pages := s3.NewListObjectVersionsPaginator(c.s3, &s3.ListObjectVersionsInput{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, v := range page.Versions {
			if err := c.remove(ctx, bucket, v.Key, v.VersionId); err != nil {
				return err
			}
		}
		for _, m := range page.DeleteMarkers {
			if err := c.remove(ctx, bucket, m.Key, m.VersionId); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Client) emptyObjects(ctx context.Context, bucket string) error {
	pages := s3.NewListObjectsV2Paginator(c.s3, &s3.ListObjectsV2Input{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, o := range page.Contents {
			if err := c.remove(ctx, bucket, o.Key, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Client) remove(ctx context.Context, bucket string, key, version *string) error {
	_, err := c.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: key, VersionId: version})
	return err
}

// uploads returns the incomplete multipart uploads.
func (c *Client) uploads(ctx context.Context, bucket string) ([]types.MultipartUpload, error) {
	var out []types.MultipartUpload
	pages := s3.NewListMultipartUploadsPaginator(c.s3, &s3.ListMultipartUploadsInput{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Uploads...)
	}
	return out, nil
}

func (c *Client) abort(ctx context.Context, bucket string, uploads []types.MultipartUpload) error {
	for _, u := range uploads {
		_, err := c.s3.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &bucket, Key: u.Key, UploadId: u.UploadId})
		if err = s3store.Fault(err); err != nil && code(err) != "NoSuchUpload" {
			return fmt.Errorf("cannot abort upload of %q: %w", aws.ToString(u.Key), err)
		}
	}
	return nil
}
