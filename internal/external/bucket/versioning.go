package bucket

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// versioning is whether a bucket keeps the versions of its objects.
type versioning struct{ s3 *s3.Client }

func (v versioning) same(ctx context.Context, s Spec) (bool, error) {
	out, err := v.s3.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &s.BucketName})
	if err != nil {
		return false, err
	}
	return versioningOf(out.Status) == s.Versioning, nil
}

func (v versioning) set(ctx context.Context, s Spec) error {
	_, err := v.s3.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{
		Bucket: &s.BucketName, VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatus(s.Versioning)},
	})
	return err
}

func (v versioning) view(ctx context.Context, s *Spec) error {
	out, err := v.s3.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &s.BucketName})
	if err == nil {
		s.Versioning = versioningOf(out.Status)
	}
	return err
}

// versioningOf returns Suspended for a bucket that never had versions.
func versioningOf(s types.BucketVersioningStatus) string {
	return cmp.Or(string(s), string(types.BucketVersioningStatusSuspended))
}
