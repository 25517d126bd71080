package bucket

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

// tags are the tags of a bucket, one of which names its owner.
type tags struct{ s3 *s3.Client }

func (t tags) same(ctx context.Context, s Spec) (bool, error) {
	if _, ok := s.Tags[external.OwnerKey]; ok {
		return false, fault.Errorf(fault.Invalid, "tag %q says who owns the bucket: remove it", external.OwnerKey)
	}
	have, _, err := t.get(ctx, s.BucketName)
	return err == nil && maps.Equal(have, s.Tags), err
}

func (t tags) set(ctx context.Context, s Spec) error {
	_, mark, err := t.get(ctx, s.BucketName)
	if err != nil {
		return err
	}
	return t.put(ctx, s.BucketName, s.Tags, mark)
}

func (t tags) view(ctx context.Context, s *Spec) error {
	have, _, err := t.get(ctx, s.BucketName)
	if err == nil {
		s.Tags = have
	}
	return err
}

// get returns the tags of the bucket, and its owner apart.
func (t tags) get(ctx context.Context, bucket string) (have map[string]string, mark string, err error) {
	out, err := t.s3.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: &bucket})
	have = map[string]string{}
	if code(err) == "NoSuchTagSet" || code(err) == "NoSuchTagSetError" {
		return have, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	for _, tag := range out.TagSet {
		have[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	mark = have[external.OwnerKey]
	delete(have, external.OwnerKey)
	return have, mark, nil
}

func (t tags) put(ctx context.Context, bucket string, values map[string]string, mark string) error {
	var set []types.Tag
	for _, k := range slices.Sorted(maps.Keys(values)) {
		set = append(set, types.Tag{Key: aws.String(k), Value: aws.String(values[k])})
	}
	if mark != "" {
		set = append(set, types.Tag{Key: aws.String(external.OwnerKey), Value: &mark})
	}
	if len(set) == 0 {
		_, err := t.s3.DeleteBucketTagging(ctx, &s3.DeleteBucketTaggingInput{Bucket: &bucket})
		return err
	}
	_, err := t.s3.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: &bucket, Tagging: &types.Tagging{TagSet: set}})
	return err
}
