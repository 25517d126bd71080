package bucket

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// lifecycle is the rules by which the server deletes objects.
type lifecycle struct{ s3 *s3.Client }

func (l lifecycle) same(ctx context.Context, s Spec) (bool, error) {
	have, foreign, err := l.get(ctx, s.BucketName)
	return err == nil && !foreign && sameRules(have, *s.LifecycleRules), err
}

// get returns the bucket's rules; foreign reports that one has fields that a
// Rule lacks.
func (l lifecycle) get(ctx context.Context, bucket string) (have []Rule, foreign bool, err error) {
	out, err := l.s3.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: &bucket})
	if code(err) == "NoSuchLifecycleConfiguration" {
		return []Rule{}, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	have, foreign = rules(out.Rules)
	return have, foreign, nil
}

func (l lifecycle) set(ctx context.Context, s Spec) error {
	if len(*s.LifecycleRules) == 0 {
		_, err := l.s3.DeleteBucketLifecycle(ctx, &s3.DeleteBucketLifecycleInput{Bucket: &s.BucketName})
		return err
	}
	var out []types.LifecycleRule
	for _, r := range *s.LifecycleRules {
		rule := types.LifecycleRule{ID: aws.String(r.ID), Status: types.ExpirationStatusEnabled, Filter: &types.LifecycleRuleFilter{Prefix: aws.String(r.Prefix)}}
		if r.ExpirationDays > 0 {
			rule.Expiration = &types.LifecycleExpiration{Days: aws.Int32(r.ExpirationDays)}
		}
		if r.NoncurrentDays > 0 {
			rule.NoncurrentVersionExpiration = &types.NoncurrentVersionExpiration{NoncurrentDays: aws.Int32(r.NoncurrentDays)}
		}
		out = append(out, rule)
	}
	_, err := l.s3.PutBucketLifecycleConfiguration(ctx, &s3.PutBucketLifecycleConfigurationInput{
		Bucket: &s.BucketName, LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: out},
	})
	return err
}

func (l lifecycle) view(ctx context.Context, s *Spec) error {
	have, foreign, err := l.get(ctx, s.BucketName)
	if err != nil || s.LifecycleRules != nil && !foreign && sameRules(have, *s.LifecycleRules) {
		return err
	}
	s.LifecycleRules = &have
	return nil
}

func sameRules(a, b []Rule) bool {
	byID := func(a, b Rule) int { return cmp.Compare(a.ID, b.ID) }
	return slices.Equal(slices.SortedFunc(slices.Values(a), byID), slices.SortedFunc(slices.Values(b), byID))
}

// rules converts rules; foreign reports that one has fields that a Rule lacks.
func rules(in []types.LifecycleRule) (out []Rule, foreign bool) {
	for _, r := range in {
		rule := Rule{ID: aws.ToString(r.ID)}
		if f := r.Filter; f != nil {
			rule.Prefix = aws.ToString(f.Prefix)
			foreign = foreign || f.Tag != nil || f.And != nil || f.ObjectSizeGreaterThan != nil || f.ObjectSizeLessThan != nil
		} else {
			rule.Prefix = aws.ToString(r.Prefix) //nolint:staticcheck // where older clients put it
		}
		if r.Expiration != nil {
			rule.ExpirationDays = aws.ToInt32(r.Expiration.Days)
			foreign = foreign || r.Expiration.Date != nil || aws.ToBool(r.Expiration.ExpiredObjectDeleteMarker)
		}
		if n := r.NoncurrentVersionExpiration; n != nil {
			rule.NoncurrentDays = aws.ToInt32(n.NoncurrentDays)
			foreign = foreign || n.NewerNoncurrentVersions != nil
		}
		foreign = foreign || len(r.NoncurrentVersionTransitions) > 0
		foreign = foreign || r.Status != types.ExpirationStatusEnabled || len(r.Transitions) > 0 || r.AbortIncompleteMultipartUpload != nil
		out = append(out, rule)
	}
	return out, foreign
}
