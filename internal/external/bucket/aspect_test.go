package bucket_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/internal/fault"
)

func TestAspects(t *testing.T) {
	ctx := t.Context()
	b := s3test.New(t)
	c := bucket.New(b.Client, b.Config.Region, nil)
	policy := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::` + b.Name + `/*"}]}`
	spec := bucket.Spec{BucketName: b.Name, Tags: map[string]string{"a": "1", "b": "2"}, Policy: policy, AbortUploadsAfterDays: 1}
	if _, err := b.Client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &b.Name, Key: aws.String("young")}); err != nil {
		t.Fatal(err)
	}
	o, err := c.Observe(ctx, spec)
	if want := []string{"tags", "policy"}; err != nil || o.UpToDate || !slices.Equal(o.Status.Differs, want) {
		t.Fatalf("Observe: %+v, %v, want it to differ in %v", o, err, want)
	}
	if err := c.Update(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Observe(ctx, spec); err != nil || !o.UpToDate {
		t.Errorf("Observe after Update: %+v, %v", o, err)
	}
	if b.Uploads(t) != 1 {
		t.Error("an upload that is not stale was aborted")
	}
}

// This server has no lifecycle rules: nobody is told who asks for none.
func TestNotImplemented(t *testing.T) {
	ctx := t.Context()
	b := s3test.New(t)
	c := bucket.New(b.Client, b.Config.Region, nil)
	if o, err := c.Observe(ctx, bucket.Spec{BucketName: b.Name}); err != nil || !o.UpToDate {
		t.Errorf("Observe: %+v, %v", o, err)
	}
	spec := bucket.Spec{BucketName: b.Name, Lifecycle: &[]bucket.Rule{{ID: "old", ExpirationDays: 1}}}
	if err := c.Update(ctx, spec); !fault.Is(err, fault.Unsupported) {
		t.Errorf("Update: %v of kind %s, want Unsupported", err, fault.KindOf(err))
	}
}
