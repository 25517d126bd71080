package parity

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

// buckets adds all S3 buckets with their configuration and objects.
func (s *servers) buckets(out map[string]string) {
	s.t.Helper()
	ctx := s.t.Context()
	list, err := s.store.ListBuckets(ctx, &awss3.ListBucketsInput{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, b := range list.Buckets {
		name, path := aws.ToString(b.Name), "s3 "+aws.ToString(b.Name)
		out[path] = "exists"
		versioning, err := s.store.GetBucketVersioning(ctx, &awss3.GetBucketVersioningInput{Bucket: &name})
		s.aspect(out, path+" versioning", err, func() any { return versioning.Status })
		lifecycle, err := s.store.GetBucketLifecycleConfiguration(ctx, &awss3.GetBucketLifecycleConfigurationInput{Bucket: &name})
		s.aspect(out, path+" lifecycle", err, func() any { return lifecycle.Rules })
		tags, err := s.store.GetBucketTagging(ctx, &awss3.GetBucketTaggingInput{Bucket: &name})
		s.aspect(out, path+" tags", err, func() any {
			m := map[string]string{}
			for _, t := range tags.TagSet {
				m[aws.ToString(t.Key)] = aws.ToString(t.Value)
			}
			return m
		})
		policy, err := s.store.GetBucketPolicy(ctx, &awss3.GetBucketPolicyInput{Bucket: &name})
		s.aspect(out, path+" policy", err, func() any { return policy.Policy })
		uploads, err := s.store.ListMultipartUploads(ctx, &awss3.ListMultipartUploadsInput{Bucket: &name})
		s.aspect(out, path+" uploads", err, func() any { return len(uploads.Uploads) })
		objects, err := s.store.ListObjectsV2(ctx, &awss3.ListObjectsV2Input{Bucket: &name})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, o := range objects.Contents {
			flatten(out, path+" object "+aws.ToString(o.Key), map[string]any{"size": o.Size, "etag": o.ETag})
		}
	}
}

// aspect adds one part of a bucket's configuration, or the error code of the
// server if it is not configured.
func (s *servers) aspect(out map[string]string, path string, err error, value func() any) {
	s.t.Helper()
	var api smithy.APIError
	switch {
	case err == nil:
		flatten(out, path, value())
	case errors.As(err, &api):
		out[path] = api.ErrorCode()
	default:
		s.t.Fatal(err)
	}
}
