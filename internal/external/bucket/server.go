package bucket

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
)

// A server is the S3 server with the buckets.
type server struct {
	s3     *s3.Client
	region string
}

func (s server) head(ctx context.Context, bucket string) (region string, exists bool, err error) {
	out, err := s.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &bucket})
	if err = s3store.Fault(err); fault.Is(err, fault.NotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("cannot look up bucket %q%s: %w", bucket, s.at(), err)
	}
	if region = aws.ToString(out.BucketRegion); region == "" {
		region = s.region
	}
	return region, true, nil
}

// at returns the location of the buckets, for errors, and whether requests are unsigned.
func (s server) at() string {
	o, at := s.s3.Options(), ""
	if e := aws.ToString(o.BaseEndpoint); e != "" {
		at = " at " + e
	}
	if o.Credentials == nil { // the SDK drops anonymous ones
		at += " without credentials"
	}
	return at
}

func (s server) aspectError(verb, aspect, bucket string, err error) error {
	err = s3store.Fault(err)
	if code(err) == "NotImplemented" {
		return fault.Errorf(fault.Unsupported, "cannot %s %s of bucket %q%s: the server does not implement it; remove it from the spec: %w",
			verb, aspect, bucket, s.at(), err)
	}
	return fmt.Errorf("cannot %s %s of bucket %q%s: %w", verb, aspect, bucket, s.at(), err)
}

// code returns the server's error code; empty for other errors.
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}
