package bucket

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
)

// uploads are the incomplete multipart uploads to a bucket.
type uploads struct {
	s3  *s3.Client
	now func() time.Time
}

func (u uploads) same(ctx context.Context, s Spec) (bool, error) {
	stale, err := u.stale(ctx, s)
	return len(stale) == 0, err
}

func (u uploads) set(ctx context.Context, s Spec) error {
	stale, err := u.stale(ctx, s)
	if err != nil {
		return err
	}
	return u.abort(ctx, s.BucketName, stale)
}

func (u uploads) stale(ctx context.Context, s Spec) ([]types.MultipartUpload, error) {
	before := u.now().Add(-time.Duration(s.AbortUploadsAfterDays) * 24 * time.Hour)
	all, err := u.list(ctx, s.BucketName)
	return slices.DeleteFunc(all, func(one types.MultipartUpload) bool { return one.Initiated == nil || one.Initiated.After(before) }), err
}

// list returns the incomplete multipart uploads.
func (u uploads) list(ctx context.Context, bucket string) ([]types.MultipartUpload, error) {
	var out []types.MultipartUpload
	pages := s3.NewListMultipartUploadsPaginator(u.s3, &s3.ListMultipartUploadsInput{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Uploads...)
	}
	return out, nil
}

func (u uploads) abort(ctx context.Context, bucket string, some []types.MultipartUpload) error {
	for _, one := range some {
		_, err := u.s3.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &bucket, Key: one.Key, UploadId: one.UploadId})
		if err = s3store.Fault(err); err != nil && code(err) != "NoSuchUpload" {
			return fmt.Errorf("cannot abort upload of %q: %w", aws.ToString(one.Key), err)
		}
	}
	return nil
}
