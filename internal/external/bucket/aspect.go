package bucket

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

// An aspect is a part of a bucket's configuration with its own API calls.
type aspect struct {
	name string
	same func(ctx context.Context) (bool, error)
	set  func(ctx context.Context) error
}

// aspects returns the aspects that the spec sets: no others are requested.
func (c *Client) aspects(s Spec) []aspect {
	var out []aspect
	add := func(asked bool, name string, same func(context.Context, Spec) (bool, error), set func(context.Context, Spec) error) {
		if asked {
			out = append(out, aspect{name,
				func(ctx context.Context) (bool, error) { return same(ctx, s) },
				func(ctx context.Context) error { return set(ctx, s) }})
		}
	}
	add(s.Versioning != "", "versioning", c.sameVersioning, c.setVersioning)
	add(s.LifecycleRules != nil, "lifecycle", c.sameLifecycle, c.setLifecycle)
	add(s.Tags != nil, "tags", c.sameTags, c.setTags)
	add(s.Policy != "", "policy", c.samePolicy, c.setPolicy)
	add(s.AbortUploadsAfterDays > 0, "uploads", c.noStaleUploads, c.abortStaleUploads)
	return out
}

func (c *Client) sameVersioning(ctx context.Context, s Spec) (bool, error) {
	out, err := c.s3.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &s.BucketName})
	if err != nil {
		return false, err
	}
	return versioning(out.Status) == s.Versioning, nil
}

func (c *Client) setVersioning(ctx context.Context, s Spec) error {
	_, err := c.s3.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{
		Bucket: &s.BucketName, VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatus(s.Versioning)},
	})
	return err
}

func (c *Client) sameLifecycle(ctx context.Context, s Spec) (bool, error) {
	have, foreign, err := c.lifecycle(ctx, s.BucketName)
	return err == nil && !foreign && sameRules(have, *s.LifecycleRules), err
}

// lifecycle returns the bucket's rules; foreign reports that one has fields that a
// Rule lacks.
func (c *Client) lifecycle(ctx context.Context, bucket string) (have []Rule, foreign bool, err error) {
	out, err := c.s3.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: &bucket})
	if code(err) == "NoSuchLifecycleConfiguration" {
		return []Rule{}, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	have, foreign = rules(out.Rules)
	return have, foreign, nil
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

func (c *Client) setLifecycle(ctx context.Context, s Spec) error {
	if len(*s.LifecycleRules) == 0 {
		_, err := c.s3.DeleteBucketLifecycle(ctx, &s3.DeleteBucketLifecycleInput{Bucket: &s.BucketName})
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
	_, err := c.s3.PutBucketLifecycleConfiguration(ctx, &s3.PutBucketLifecycleConfigurationInput{
		Bucket: &s.BucketName, LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: out},
	})
	return err
}

func (c *Client) sameTags(ctx context.Context, s Spec) (bool, error) {
	if _, ok := s.Tags[external.OwnerKey]; ok {
		return false, fault.Errorf(fault.Invalid, "tag %q says who owns the bucket: remove it", external.OwnerKey)
	}
	have, _, err := c.tags(ctx, s.BucketName)
	return err == nil && maps.Equal(have, s.Tags), err
}

// tags returns the tags of the bucket, and its owner apart.
func (c *Client) tags(ctx context.Context, bucket string) (have map[string]string, mark string, err error) {
	out, err := c.s3.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: &bucket})
	have = map[string]string{}
	if code(err) == "NoSuchTagSet" || code(err) == "NoSuchTagSetError" {
		return have, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	for _, t := range out.TagSet {
		have[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	mark = have[external.OwnerKey]
	delete(have, external.OwnerKey)
	return have, mark, nil
}

func (c *Client) setTags(ctx context.Context, s Spec) error {
	_, mark, err := c.tags(ctx, s.BucketName)
	if err != nil {
		return err
	}
	return c.putTags(ctx, s.BucketName, s.Tags, mark)
}

func (c *Client) putTags(ctx context.Context, bucket string, tags map[string]string, mark string) error {
	var set []types.Tag
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		set = append(set, types.Tag{Key: aws.String(k), Value: aws.String(tags[k])})
	}
	if mark != "" {
		set = append(set, types.Tag{Key: aws.String(external.OwnerKey), Value: &mark})
	}
	if len(set) == 0 {
		_, err := c.s3.DeleteBucketTagging(ctx, &s3.DeleteBucketTaggingInput{Bucket: &bucket})
		return err
	}
	_, err := c.s3.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: &bucket, Tagging: &types.Tagging{TagSet: set}})
	return err
}

func (c *Client) samePolicy(ctx context.Context, s Spec) (bool, error) {
	have, err := c.policy(ctx, s.BucketName)
	if err != nil {
		return false, err
	}
	same, err := samePolicy(have, s.Policy)
	if err != nil {
		return false, fault.Errorf(fault.Invalid, "it is not JSON: %w", err)
	}
	return same, nil
}

// samePolicy compares the policy of a server with the desired one, because servers
// reformat it. It returns an error if the desired one is not JSON.
func samePolicy(have, want string) (bool, error) {
	if have == "" || want == "" {
		return have == want, nil
	}
	var a, b any
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		return false, err
	}
	return json.Unmarshal([]byte(have), &a) == nil && reflect.DeepEqual(a, b), nil
}

func (c *Client) setPolicy(ctx context.Context, s Spec) error {
	_, err := c.s3.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: &s.BucketName, Policy: &s.Policy})
	return err
}

func (c *Client) noStaleUploads(ctx context.Context, s Spec) (bool, error) {
	stale, err := c.staleUploads(ctx, s)
	return len(stale) == 0, err
}

func (c *Client) abortStaleUploads(ctx context.Context, s Spec) error {
	stale, err := c.staleUploads(ctx, s)
	if err != nil {
		return err
	}
	return c.abort(ctx, s.BucketName, stale)
}

func (c *Client) staleUploads(ctx context.Context, s Spec) ([]types.MultipartUpload, error) {
	before := c.now().Add(-time.Duration(s.AbortUploadsAfterDays) * 24 * time.Hour)
	all, err := c.uploads(ctx, s.BucketName)
	return slices.DeleteFunc(all, func(u types.MultipartUpload) bool { return u.Initiated == nil || u.Initiated.After(before) }), err
}

// code returns the server's error code; empty for other errors.
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}
