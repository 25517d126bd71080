package bucket

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
)

// contents are the objects of a bucket, their versions, and incomplete uploads.
type contents struct {
	server  server
	uploads uploads
}

// empty deletes all objects with their versions, and incomplete uploads.
func (c contents) empty(ctx context.Context, bucket string) error {
	err := c.emptyVersions(ctx, bucket)
	if code(err) == "NotImplemented" || code(err) == "MethodNotAllowed" {
		err = c.emptyObjects(ctx, bucket) // a server without versions
	}
	if err == nil {
		var left []types.MultipartUpload
		if left, err = c.uploads.list(ctx, bucket); err == nil {
			err = c.uploads.abort(ctx, bucket, left)
		}
	}
	if err = s3store.Fault(err); err == nil || fault.Is(err, fault.NotFound) {
		return nil
	}
	return fmt.Errorf("cannot empty bucket %q%s: %w", bucket, c.server.at(), err)
}

func (c contents) emptyVersions(ctx context.Context, bucket string) error {
	pages := s3.NewListObjectVersionsPaginator(c.server.s3, &s3.ListObjectVersionsInput{Bucket: &bucket})
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

func (c contents) emptyObjects(ctx context.Context, bucket string) error {
	pages := s3.NewListObjectsV2Paginator(c.server.s3, &s3.ListObjectsV2Input{Bucket: &bucket})
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

func (c contents) remove(ctx context.Context, bucket string, key, version *string) error {
	_, err := c.server.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: key, VersionId: version})
	return err
}
