package bucket

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/fault"
)

// policy is who may do what with a bucket.
type policy struct{ s3 *s3.Client }

func (p policy) same(ctx context.Context, s Spec) (bool, error) {
	have, err := p.get(ctx, s.BucketName)
	if err != nil {
		return false, err
	}
	same, err := samePolicy(have, s.Policy)
	if err != nil {
		return false, fault.Errorf(fault.Invalid, "it is not JSON: %w", err)
	}
	return same, nil
}

func (p policy) set(ctx context.Context, s Spec) error {
	_, err := p.s3.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: &s.BucketName, Policy: &s.Policy})
	return err
}

func (p policy) view(ctx context.Context, s *Spec) error {
	have, err := p.get(ctx, s.BucketName)
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

// get returns the policy of the bucket, empty if it has none.
func (p policy) get(ctx context.Context, bucket string) (string, error) {
	out, err := p.s3.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: &bucket})
	if code(err) == "NoSuchBucketPolicy" {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return aws.ToString(out.Policy), nil
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
