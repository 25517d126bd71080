package bucket

import (
	"cmp"
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

var _ external.Viewer[Spec] = (*Client)(nil)

// View reads the aspects that the spec mentions. With AllFields it also reads the
// others, as far as the server implements them and allows it.
func (c *Client) View(ctx context.Context, s Spec, scope external.Scope) (Spec, error) {
	if scope == external.AllFields {
		if _, exists, err := c.head(ctx, s.BucketName); err != nil || !exists {
			return Spec{}, cmp.Or(err, fault.Errorf(fault.NotFound, "cannot view bucket %q%s: it does not exist", s.BucketName, c.at()))
		}
	}
	out := s
	for _, a := range []struct {
		name string
		said bool
		view func(context.Context, *Spec) error
	}{
		{"versioning", s.Versioning != "", c.viewVersioning},
		{"lifecycle", s.LifecycleRules != nil, c.viewLifecycle},
		{"tags", s.Tags != nil, c.viewTags},
		{"policy", s.Policy != "", c.viewPolicy},
	} {
		if !a.said && scope == external.SpecFields {
			continue
		}
		if err := a.view(ctx, &out); err != nil && (a.said || !secondary(err)) {
			return Spec{}, c.aspectError("view", a.name, s.BucketName, err)
		}
	}
	return out, nil
}

// secondary reports whether an aspect that the spec does not mention may be left
// out for an error.
func secondary(err error) bool {
	return code(err) == "NotImplemented" || code(err) == "MethodNotAllowed" || fault.Is(s3store.Fault(err), fault.Denied)
}

func (c *Client) viewVersioning(ctx context.Context, s *Spec) error {
	out, err := c.s3.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &s.BucketName})
	if err == nil {
		s.Versioning = versioning(out.Status)
	}
	return err
}

// versioning returns Suspended for a bucket that never had versions.
func versioning(s types.BucketVersioningStatus) string {
	return cmp.Or(string(s), string(types.BucketVersioningStatusSuspended))
}

func (c *Client) viewLifecycle(ctx context.Context, s *Spec) error {
	have, foreign, err := c.lifecycle(ctx, s.BucketName)
	if err != nil || s.LifecycleRules != nil && !foreign && sameRules(have, *s.LifecycleRules) {
		return err
	}
	s.LifecycleRules = &have
	return nil
}

func (c *Client) viewTags(ctx context.Context, s *Spec) error {
	have, _, err := c.tags(ctx, s.BucketName)
	if err == nil {
		s.Tags = have
	}
	return err
}

func (c *Client) viewPolicy(ctx context.Context, s *Spec) error {
	have, err := c.policy(ctx, s.BucketName)
	if err != nil {
		return err
	}
	same, err := samePolicy(have, s.Policy)
	if err != nil {
		return fmt.Errorf("it is not JSON: %w", err)
	}
	if !same {
		s.Policy = have
	}
	return nil
}

// policy returns the policy of the bucket, empty if it has none.
func (c *Client) policy(ctx context.Context, bucket string) (string, error) {
	out, err := c.s3.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: &bucket})
	if code(err) == "NoSuchBucketPolicy" {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return aws.ToString(out.Policy), nil
}
